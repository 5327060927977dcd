"""Adapter kit of unified-trace for Python 3.8 and newer: one file, the standard library only.

It does two things for a program that holds an allocator:

* `serve` puts the allocator behind the adapter protocol, so that traces can be replayed on it. The program writes
  one method for each operation; the kit does the hello, the opening and closing of runs, order and numbers, bad
  lines, and writes all answers to one read at once.
* `LiveRecorder` writes down what the allocator does inside its own program, when UNIFIED_TRACE=FILE is set.

docs/adapter-kits.md of unified-trace explains both, docs/adapter-protocol.md the protocol itself.
"""

import atexit
import json
import os
import re
import sys
import threading
import traceback
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple, Type, Union

PROTOCOL_VERSION = 1
LINE_BYTES_MAX = 64 * 1024 * 1024  # of one line, both ways
DEPTH_MAX = 64  # nesting of one line, both ways
READ_BYTES = 256 * 1024  # of one read: a whole window of operations

EXIT_OK, EXIT_BROKEN, EXIT_BAD_LINE = 0, 1, 3


class RefusedConfiguration(Exception):
    """Raised by an implementation's `__init__`: this configuration is not taken. Another run may be opened."""


class Unsupported(Exception):
    """Raised by an operation that cannot do what is asked: that says nothing about the allocator."""


class InvariantBroken(Exception):
    """Raised by an operation or `close` that finds the allocator itself broken."""


class Opening(NamedTuple):
    """What a run is opened with."""

    run: str
    domain: str  # "heap" or "kv"
    config: Dict[str, Any]
    digest_depth: Optional[str]  # "light", "layout", "deep" or None
    state: Optional[Dict[str, Any]]  # to go on from, only where `from_state` is true


class Granted(NamedTuple):
    """A granted operation that has more to tell than its result."""

    ok: Mapping[str, Any]
    fx: Optional[List[Any]] = None
    digest: Optional[Mapping[str, str]] = None  # the components that changed, 16 hex digits each
    message: Optional[str] = None  # a remark, never compared


class Refusal(NamedTuple):
    """A refused operation; it must have changed nothing."""

    err: Mapping[str, Any]


# Fields of `err` in the order in which a trace has them.
_ERROR_FIELDS = (
    "code rule req band page need free demand limit terms transfers holders message".split()
)


def refused(code: str, **fields: Any) -> Refusal:
    """The refusal `code`, such as "refused_capacity", with the fields that the trace format gives it."""
    given = dict(fields, code=code)
    return Refusal({name: given[name] for name in _ERROR_FIELDS if given.get(name) is not None})


def invalid(rule: str, **fields: Any) -> Refusal:
    """A broken contract of the caller: which rule, and what it names."""
    return refused("invalid", rule=rule, **fields)


Answer = Union[Mapping[str, Any], Granted, Refusal]
Handler = Callable[[Any, Dict[str, Any]], Answer]


def operation(name: str) -> Callable[[Handler], Handler]:
    """Makes a method the handler of an operation. It gets the arguments and returns the result or a `Refusal`."""

    def mark(handler: Handler) -> Handler:
        handler.unified_trace_operation = name  # type: ignore[attr-defined]
        return handler

    return mark


class Implementation:
    """One run of an allocator. Subclass it, and mark the handlers with `operation`."""

    domain = "heap"
    digest: Optional[str] = None  # the deepest digest that its answers have
    fx = False  # whether its answers tell effects
    from_state = False  # whether a run may start from a state

    def __init__(self, opening: Opening) -> None:
        self.opening = opening

    def state(self) -> Optional[Mapping[str, Any]]:
        """The full state after the last operation, or None where there is none to tell."""
        return None

    def close(self) -> Optional[str]:
        """Ends the run; the folded digest, or None without digests."""
        return None

    @classmethod
    def handlers(cls) -> Dict[str, Handler]:
        """The marked methods by operation."""
        found: Dict[str, Handler] = {}
        for parent in reversed(cls.__mro__):
            for member in vars(parent).values():
                name = getattr(member, "unified_trace_operation", None)
                if name is not None:
                    found[name] = member
        return found


# --- the protocol -----------------------------------------------------------------------------------------------


class _BadLine(Exception):
    """A line that ends the conversation."""


def _refuse_constant(text: str) -> None:
    raise ValueError(text + " is no JSON")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def _is_too_deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= DEPTH_MAX:
        return False
    depth = 0
    for letter in _STRING.sub("", text):
        if letter in "[{":
            depth += 1
            if depth > DEPTH_MAX:
                return True
        elif letter in "]}":
            depth -= 1
    return False


def _quoted(line: str) -> str:
    text = " ".join("".join(c if c.isprintable() else " " for c in line[:200]).split())
    return json.dumps(text if len(text) <= 60 else text[:57] + "...")


def _one_line(error: BaseException) -> str:
    return " ".join(("%s: %s" % (type(error).__name__, error)).split())


def _parse(raw: bytes) -> Dict[str, Any]:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise _BadLine("not UTF-8: " + _quoted(raw[:60].decode("utf-8", "replace")))
    if _is_too_deep(text):
        raise _BadLine("nested deeper than %d levels: %s" % (DEPTH_MAX, _quoted(text)))
    try:
        value = _decode(text)
    except ValueError:
        raise _BadLine("an empty line" if text.strip() == "" else "not JSON: " + _quoted(text))
    if not isinstance(value, dict):
        raise _BadLine("not an object: " + _quoted(text))
    return value


class Session:
    """One conversation: lines in, lines out. `exit_code` is None while it goes on."""

    def __init__(
        self,
        implementations: List[Type[Implementation]],
        name: str,
        version: str,
        revision: Optional[str] = None,
        dirty: Optional[bool] = None,
    ) -> None:
        self.exit_code: Optional[int] = None
        self._by_domain = {kind.domain: kind for kind in implementations}
        self._handlers = {kind.domain: kind.handlers() for kind in implementations}
        depths = ["light", "layout", "deep"]
        given = [kind.digest for kind in implementations if kind.digest is not None]
        self._hello = {
            "protocol": PROTOCOL_VERSION,
            "name": name,
            "version": version,
            "revision": revision,
            "dirty": dirty,
            "domains": [kind.domain for kind in implementations],
            "ops": [op for handlers in self._handlers.values() for op in handlers],
            "digest": max(given, key=depths.index) if given else None,
            "fx": any(kind.fx for kind in implementations),
            "from_state": any(kind.from_state for kind in implementations),
        }
        self._is_greeted = False
        self._run: Optional[Implementation] = None
        self._run_name = ""
        self._bound: Dict[str, Callable[[Dict[str, Any]], Answer]] = {}
        self._next = 0

    def take(self, raw: bytes) -> str:
        """The reply to one line, line feed included."""
        try:
            message = _parse(raw)
            if "n" in message:
                return self._apply(message)
            word = next(iter(message), "")
            body = message.get(word)
            if word not in ("hello", "open", "state", "close") or not isinstance(body, dict):
                raise _BadLine("no message of the protocol: " + _quoted(raw.decode("utf-8")))
            if word == "hello":
                return self._greet(body)
            if not self._is_greeted:
                raise _BadLine('"%s" before the hello' % word)
            if word == "open":
                return self._open(body)
            if self._run is None:
                raise _BadLine('"%s" where no run is open' % word)
            return self._tell_state() if word == "state" else self._close(body)
        except _BadLine as bad:
            return self.refuse(str(bad))

    def refuse(self, message: str) -> str:
        """The error line after which nothing is answered."""
        self.exit_code = EXIT_BAD_LINE
        return _error("protocol", message)

    def _greet(self, body: Dict[str, Any]) -> str:
        if self._is_greeted:
            raise _BadLine("a second hello")
        if body.get("protocol") != PROTOCOL_VERSION:
            asked = _quoted(str(body.get("protocol")))
            raise _BadLine("protocol %s is asked for; this side speaks %d" % (asked, PROTOCOL_VERSION))
        self._is_greeted = True
        return _encode({"hello": self._hello}) + "\n"

    def _open(self, body: Dict[str, Any]) -> str:
        if self._run is not None:
            raise _BadLine('"open" before run "%s" was closed' % self._run_name)
        run, config, state = body.get("run"), body.get("config"), body.get("state")
        domain = body.get("domain", "kv")
        if not isinstance(run, str) or not isinstance(config, dict):
            raise _BadLine('"open" without "run" or "config"')
        kind = self._by_domain.get(domain) if isinstance(domain, str) else None
        if kind is None:
            return _error("candidate_handshake", "domain %s is not answered here" % _quoted(str(domain)))
        if state is not None and not kind.from_state:
            return _error("candidate_handshake", "a run cannot start from a state here")
        try:
            made = kind(Opening(run, domain, config, body.get("digest_depth"), state))
        except RefusedConfiguration as reason:
            return _error("config", " ".join(str(reason).split()))
        except Exception as error:  # the conversation goes on: nothing was opened
            traceback.print_exc()
            return _error("config", _one_line(error))
        self._run, self._run_name, self._next = made, run, 0
        # bound once a run: this is the hot path
        self._bound = {op: handler.__get__(made) for op, handler in self._handlers[domain].items()}
        return _encode({"opened": {"run": run}}) + "\n"

    def _apply(self, message: Dict[str, Any]) -> str:
        n, op, args = message["n"], message.get("op"), message.get("args")
        if self._run is None:
            raise _BadLine("an operation where no run is open")
        if n != self._next or isinstance(n, bool):
            raise _BadLine("operation %s where operation %d is next" % (_quoted(str(n)), self._next))
        if not isinstance(op, str) or not isinstance(args, dict):
            raise _BadLine('operation %d without "op" or "args"' % n)
        handler = self._bound.get(op)
        if handler is None:
            raise _BadLine("operation %d is of a kind that is not answered here: %s" % (n, _quoted(op)))
        try:
            line = _answer_line(n, handler(args))
        except InvariantBroken as broken:
            return self._fail(n, "invariant", " ".join(str(broken).split()))
        except Unsupported as reason:
            err = {"code": "unsupported", "message": " ".join(str(reason).split())}
            line = _answer_line(n, Refusal(err))
        except Exception as error:
            traceback.print_exc()
            return self._fail(n, "crash", _one_line(error))
        self._next = n + 1
        return line

    def _tell_state(self) -> str:
        assert self._run is not None
        return _encode({"state": self._run.state()}) + "\n"

    def _close(self, body: Dict[str, Any]) -> str:
        assert self._run is not None
        if body.get("run") != self._run_name:
            asked = _quoted(str(body.get("run")))
            raise _BadLine('"close" of run %s where "%s" is open' % (asked, self._run_name))
        try:
            digest = self._run.close()
        except Exception as error:
            kind = "invariant" if isinstance(error, InvariantBroken) else "crash"
            return self._fail(self._next, kind, _one_line(error))
        self._run = None
        self._bound = {}
        return _encode({"closed": {"run": self._run_name, "digest": digest}}) + "\n"

    def _fail(self, n: int, kind: str, message: str) -> str:
        self.exit_code = EXIT_BROKEN
        return _encode({"n": n, "fail": {"kind": kind, "message": message}}) + "\n"


def _answer_line(n: int, answer: Answer) -> str:
    if isinstance(answer, dict):
        return '{"n":%d,"ok":%s}\n' % (n, _encode(answer))
    if isinstance(answer, Refusal):
        return '{"n":%d,"err":%s}\n' % (n, _encode(answer.err))
    if not isinstance(answer, Granted):
        raise TypeError("the handler returned no result: %r" % (answer,))
    return '{"n":%d,%s\n' % (n, _encode(_members(answer))[1:])


def _members(answer: Granted) -> Dict[str, Any]:
    found: Dict[str, Any] = {"ok": answer.ok}
    for name in ("fx", "digest", "message"):
        value = getattr(answer, name)
        if value:
            found[name] = value
    return found


def _error(code: str, message: str) -> str:
    return _encode({"error": {"code": code, "message": message}}) + "\n"


def serve(
    implementations: List[Type[Implementation]],
    name: str,
    version: str,
    revision: Optional[str] = None,
    dirty: Optional[bool] = None,
) -> int:
    """Answers the protocol on standard input and output until the input ends; returns the exit code.

    Standard output belongs to the protocol from then on: what the program itself prints goes to standard error.
    """
    sys.stdout.flush()
    output = os.dup(1)
    os.dup2(2, 1)
    session = Session(implementations, name, version, revision, dirty)
    held: List[bytes] = []  # the beginning of a line whose end is still to come
    held_bytes = 0
    try:
        while session.exit_code is None:
            chunk = os.read(0, READ_BYTES)
            if not chunk:
                if held_bytes > 0:
                    _write(output, session.refuse("the input ends in the middle of a line"))
                break
            lines = chunk.split(b"\n")
            lines[0] = b"".join(held) + lines[0] if len(lines) > 1 else lines[0]
            rest = lines.pop()
            replies: List[str] = []
            for line in lines:
                if len(line) > LINE_BYTES_MAX:
                    replies.append(session.refuse("a line is longer than 64 MiB"))
                else:
                    replies.append(session.take(line))
                if session.exit_code is not None:
                    break
            if lines:
                held, held_bytes = [], 0
            held.append(rest)
            held_bytes += len(rest)
            if held_bytes > LINE_BYTES_MAX and session.exit_code is None:
                replies.append(session.refuse("a line is longer than 64 MiB"))
            # all answers to one read in one write: that is what makes a window of operations fast
            if replies:
                _write(output, "".join(replies))
    except BrokenPipeError:
        return EXIT_OK  # the tool went away
    return session.exit_code or EXIT_OK


def _write(descriptor: int, text: str) -> None:
    data = memoryview(text.encode("ascii"))
    while len(data) > 0:
        data = data[os.write(descriptor, data) :]


# --- live recording ---------------------------------------------------------------------------------------------

# Arguments of the operations of domain `heap`, in the order in which a trace has them.
_HEAP_ARGUMENTS: Dict[str, Tuple[str, ...]] = {
    "heap.alloc": ("id", "size_bytes", "align_bytes", "stream", "pool"),
    "heap.free": ("id", "stream"),
    "heap.realloc": ("id", "size_bytes"),
    "heap.copy": ("from", "to", "bytes"),
    "heap.release": ("pool",),
    "heap.coalesce": ("pool",),
    "pool.make": ("pool", "type", "args"),
}
_BUFFER_BYTES = 256 * 1024


class LiveCall:
    """A recorded call. Tell its outcome with `granted` or `refused` before the `with` block ends."""

    __slots__ = ("_recorder", "_op", "_args", "_address", "_id", "_is_told")

    def __init__(self, recorder: "LiveRecorder", op: str, args: Mapping[str, Any]) -> None:
        self._recorder = recorder
        self._op = op
        self._args = args
        self._address: Optional[int] = None  # where the object lay before
        self._id = ""
        self._is_told = False

    def granted(self, address: Optional[int] = None, **answer: Any) -> None:
        """It was granted: the object's address where it has one, else the fields of `ok`; `fx` as well."""
        self._recorder._granted(self, address, answer)

    def refused(self, code: str, **fields: Any) -> None:
        """It was refused and changed nothing."""
        self._recorder._tell(self, None, refused(code, **fields).err, None)

    def __enter__(self) -> "LiveCall":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._recorder._leave(self, error)


class _NoCall(LiveCall):
    """A call that is not recorded."""

    __slots__ = ()

    def __init__(self) -> None:  # nothing to hold
        pass

    def granted(self, address: Optional[int] = None, **answer: Any) -> None:
        pass

    def refused(self, code: str, **fields: Any) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        pass


_NO_CALL = _NoCall()


class LiveRecorder:
    """Writes down what an allocator does inside its own program, as a trace with one run.

    It records when UNIFIED_TRACE names a file (`%p` in it is the process's number), and does nothing otherwise. With
    UNIFIED_TRACE_CRASH_SAFE=1 each call is written before it is made, so that a trace of a program that died names
    the call that never returned. Lines go to FILE.PID.partial; only a whole trace gets the name FILE, when `close` is
    called or the interpreter exits. A recording that cannot go on says so once on standard error and never disturbs
    the program. Calls are serialised, and a call inside a recorded call is not recorded.

    `base` is the address that offsets count from; None: offsets are not recorded.
    """

    def __init__(
        self,
        name: str,
        version: str,
        config: Mapping[str, Any],
        base: Optional[int] = 0,
        domain: str = "heap",
        run: str = "live",
        revision: Optional[str] = None,
    ) -> None:
        self._lock = threading.RLock()
        self._base = base
        self._run = run
        self._n = 0
        self._lifetimes = 0
        self._ids: Dict[int, str] = {}  # by address: the object there, or the last one that was
        self._buffer: List[str] = []
        self._buffered = 0
        self._call: Optional[LiveCall] = None
        self._file: Optional[int] = None
        self._pid = os.getpid()
        self._crash_safe = os.environ.get("UNIFIED_TRACE_CRASH_SAFE", "") not in ("", "0")
        self._path = os.environ.get("UNIFIED_TRACE", "").replace("%p", str(self._pid))
        if self._path == "":
            return
        if self._path == "-" or self._path.endswith((".gz", ".zst")):
            self._complain("a live recording needs the name of a plain .jsonl file")
            return
        self._partial = "%s.%d.partial" % (self._path, self._pid)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0)
            self._file = os.open(self._partial, flags, 0o666)
        except OSError as error:
            self._complain("cannot be written: " + _one_line(error))
            return
        producer = {"name": name, "version": version, "revision": revision, "dirty": None}
        header = {"kind": "trace", "format": "unified-trace", "version": 1, "producer": producer}
        self._put(dict(header, created=None, note=None))
        source = {"type": "live", "name": name}
        opening = {"kind": "run", "run": run, "domain": domain, "config": config, "source": source}
        self._put(dict(opening, digest_depth=None))
        atexit.register(self.close)

    @property
    def is_recording(self) -> bool:
        return self._file is not None

    def call(self, op: str, **args: Any) -> LiveCall:
        """Any operation; arguments that are None are left out."""
        return self._begin(op, args, None, "")

    def alloc(
        self,
        size_bytes: int,
        align_bytes: Optional[int] = None,
        stream: Optional[str] = None,
        pool: Optional[str] = None,
    ) -> LiveCall:
        """An allocation: a new lifetime with an id of its own."""
        if self._file is None:
            return _NO_CALL
        with self._lock:
            args = {"size_bytes": size_bytes, "align_bytes": align_bytes, "stream": stream, "pool": pool}
            return self._begin("heap.alloc", args, None, None)

    def free(self, address: int, stream: Optional[str] = None) -> LiveCall:
        """The end of the lifetime of the object at `address`."""
        if self._file is None:
            return _NO_CALL
        with self._lock:
            return self._begin("heap.free", {"stream": stream}, address, self._id_at(address))

    def realloc(self, address: int, size_bytes: int) -> LiveCall:
        """Another size for the object at `address`; `granted` tells where it lies then."""
        if self._file is None:
            return _NO_CALL
        with self._lock:
            return self._begin("heap.realloc", {"size_bytes": size_bytes}, address, self._id_at(address))

    def close(self) -> None:
        """Ends the recording; the trace gets its name."""
        with self._lock:
            if self._file is None or os.getpid() != self._pid:  # a forked child leaves its parent's file alone
                return
            if self._call is not None:
                self._give_up("the program ended inside a call")
                return
            self._put({"kind": "end", "run": self._run, "ops": self._n})
            self._flush()
            if self._file is None:
                return
            descriptor, self._file = self._file, None
            try:
                os.close(descriptor)
                os.replace(self._partial, self._path)
            except OSError as error:
                self._complain("cannot be written: " + _one_line(error))

    def _begin(
        self, op: str, args: Mapping[str, Any], address: Optional[int], id: Optional[str]
    ) -> LiveCall:
        if self._file is None:
            return _NO_CALL
        self._lock.acquire()
        if self._call is not None or self._file is None or os.getpid() != self._pid:
            self._lock.release()
            return _NO_CALL
        if id is None:
            self._lifetimes += 1
            id = "a%d" % self._lifetimes
        named = dict(args, id=id) if id != "" else args
        order = _HEAP_ARGUMENTS.get(op) or tuple(named)
        given = {key: named[key] for key in order if named.get(key) is not None}
        call = LiveCall(self, op, given)
        call._address = address
        call._id = id
        self._call = call
        if self._crash_safe:
            self._put({"kind": "call", "n": self._n, "op": op, "args": given})
            self._flush()
        return call

    def _id_at(self, address: int) -> str:
        found = self._ids.get(address)
        if found is None:  # never allocated here: a name that nothing opens
            self._lifetimes += 1
            found = self._ids[address] = "u%d" % self._lifetimes
        return found

    def _granted(self, call: LiveCall, address: Optional[int], answer: Dict[str, Any]) -> None:
        fx = answer.pop("fx", None)
        if address is not None and call._id != "":
            if call._address is not None:
                self._ids.pop(call._address, None)
            self._ids[address] = call._id
            if self._base is not None:
                answer = {"address_offset": address - self._base}
        self._tell(call, answer, None, fx)

    def _tell(
        self,
        call: LiveCall,
        ok: Optional[Mapping[str, Any]],
        err: Optional[Mapping[str, Any]],
        fx: Optional[List[Any]],
    ) -> None:
        if call._is_told or self._call is not call:
            return
        call._is_told = True
        line = {"kind": "op", "n": self._n, "op": call._op, "args": call._args}
        line.update({"ok": ok} if err is None else {"err": err})
        if fx:
            line["fx"] = fx
        self._put(line)
        self._n += 1
        if self._crash_safe:
            self._flush()

    def _leave(self, call: LiveCall, error: Optional[BaseException]) -> None:
        if self._call is not call:
            return
        if not call._is_told:
            reason = "told no outcome" if error is None else "raised " + _one_line(error)
            self._give_up("%s %s" % (call._op, reason))
        self._call = None
        self._lock.release()

    def _put(self, line: Mapping[str, Any]) -> None:
        text = _encode(line)
        self._buffer.append(text)
        self._buffered += len(text)
        if self._buffered >= _BUFFER_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._file is None or not self._buffer:
            return
        text = "\n".join(self._buffer) + "\n"
        self._buffer = []
        self._buffered = 0
        try:
            _write(self._file, text)
        except OSError as error:
            os.close(self._file)
            self._file = None
            self._complain("cannot be written: " + _one_line(error))

    def _give_up(self, reason: str) -> None:
        self._flush()
        if self._file is None:
            return
        os.close(self._file)
        self._file = None
        self._complain("%s; what was recorded until then is in %s" % (reason, self._partial))

    def _complain(self, message: str) -> None:
        sys.stderr.write("UNIFIED_TRACE=%s: %s\n" % (self._path, message))
