"""Stands where systemd is on the bus, for systemd-logind: it knows the target of a power-off, and switches nothing off."""
import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

PROPERTIES = "org.freedesktop.DBus.Properties"


class PowerOffTarget(dbus.service.Object):
    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, _interface, name):
        if name != "LoadState":
            raise dbus.exceptions.DBusException("only LoadState is told")
        return "loaded"


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SystemBus()
name = dbus.service.BusName("org.freedesktop.systemd1", bus)
target = PowerOffTarget(bus, "/org/freedesktop/systemd1/unit/poweroff_2etarget")
GLib.MainLoop().run()
