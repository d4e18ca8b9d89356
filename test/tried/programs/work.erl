%% An application that needs 2 s to stop.
-module(work).
-behaviour(application).
-export([start/2, stop/1, init/1]).

start(_, _) ->
    {ok, Pid} = supervisor:start_link(?MODULE, []),
    note("ready"),
    {ok, Pid}.

stop(_) ->
    timer:sleep(2000),
    note("clean").

init([]) -> {ok, {#{}, []}}.

note(Name) -> ok = file:write_file(filename:join(os:getenv("SCRATCH"), Name), "").
