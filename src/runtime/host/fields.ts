/** The kinds of fields in a frame: how a value is written, how it is read, and within which bounds. */

export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/** Writes a value as one or more fields. */
export interface Writer<T> {
  readonly write: (value: T) => string | readonly string[];
}

export interface Reader<T> {
  readonly read: (field: string) => T;
}

interface Field<T> extends Reader<T> {
  readonly write: (value: T) => string;
}

export function number(what: string, min: number, max: number): Field<number> {
  const isValid = (value: number): boolean => Number.isInteger(value) && value >= min && value <= max;
  return {
    write: (value) => {
      if (isValid(value)) return String(value);
      throw new ProtocolError(`cannot send ${what} ${value}: it has to be a whole number from ${min} to ${max}`);
    },
    read: (field) => {
      if (/^(?:0|[1-9][0-9]{0,15})$/.test(field) && isValid(Number(field))) return Number(field);
      throw new ProtocolError(`cannot read ${what} ${quote(field)}: it is no whole number from ${min} to ${max}`);
    },
  };
}

export function text(what: string, maxBytes: number): Field<string> {
  return {
    write: (value) => {
      if (value.includes('\0')) throw new ProtocolError(`cannot send a ${what} with a NUL byte in it`);
      const bytes = Buffer.byteLength(value);
      if (bytes <= maxBytes) return value;
      throw new ProtocolError(`cannot send a ${what} of ${bytes} bytes: at most ${maxBytes} are allowed`);
    },
    read: (field) => field,
  };
}

export function pattern<T extends string = string>(what: string, form: RegExp): Reader<T> {
  return {
    read: (field) => {
      if (form.test(field)) return field as T;
      throw new ProtocolError(`cannot read ${what} ${quote(field)}: it is not of the form ${form.source}`);
    },
  };
}

export const FLAG: Field<boolean> = {
  write: (value) => (value ? '1' : '0'),
  read: (field) => number('flag', 0, 1).read(field) === 1,
};

/** A time is never sent too early. 0 stands for never, which the core may also call infinity. */
export const TIME = {
  write: (ms: number | undefined): string => {
    if (ms === undefined || ms === Number.POSITIVE_INFINITY) return '0';
    return number('time', 1, Number.MAX_SAFE_INTEGER).write(Math.max(1, Math.ceil(ms)));
  },
};

/** An empty field stands for undefined. */
export function optional<T>(field: Reader<T>): Reader<T | undefined> {
  return { read: (value) => (value === '' ? undefined : field.read(value)) };
}

/** The number of items, and the items. */
export function list<T>(item: Field<T>): Writer<readonly T[]> {
  return { write: (items) => [String(items.length), ...items.map(item.write)] };
}

/** Short and printable, as it goes into a message. */
export function quote(field: string | undefined): string {
  return field === undefined ? 'nothing' : JSON.stringify(field.slice(0, 40));
}
