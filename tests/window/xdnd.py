# SPDX-License-Identifier: Apache-2.0
"""Drops files onto a window, as a file manager does: the source's side of the XDND protocol, version 5.

https://freedesktop.org/wiki/Specifications/XDND. xdotool cannot do it: a drop is messages between two programs, not input.
"""
import ctypes
import select
import time

CLIENT_MESSAGE, SELECTION_NOTIFY, SELECTION_REQUEST = 33, 31, 30
VERSION = 5
PATIENCE_S = 60


class ClientMessage(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int),
                ("display", ctypes.c_void_p), ("window", ctypes.c_ulong), ("message_type", ctypes.c_ulong),
                ("format", ctypes.c_int), ("data", ctypes.c_long * 5)]


class SelectionRequest(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int),
                ("display", ctypes.c_void_p), ("owner", ctypes.c_ulong), ("requestor", ctypes.c_ulong),
                ("selection", ctypes.c_ulong), ("target", ctypes.c_ulong), ("property", ctypes.c_ulong),
                ("time", ctypes.c_ulong)]


class SelectionNotify(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int),
                ("display", ctypes.c_void_p), ("requestor", ctypes.c_ulong), ("selection", ctypes.c_ulong),
                ("target", ctypes.c_ulong), ("property", ctypes.c_ulong), ("time", ctypes.c_ulong)]


class Event(ctypes.Union):
    _fields_ = [("type", ctypes.c_int), ("client", ClientMessage), ("request", SelectionRequest),
                ("notify", SelectionNotify), ("room", ctypes.c_long * 24)]


class Source:
    def __init__(self, display_name):
        self.x11 = ctypes.CDLL("libX11.so.6")
        for name, result in (("XOpenDisplay", ctypes.c_void_p), ("XDefaultRootWindow", ctypes.c_ulong),
                             ("XCreateSimpleWindow", ctypes.c_ulong), ("XInternAtom", ctypes.c_ulong)):
            getattr(self.x11, name).restype = result
        self.display = ctypes.c_void_p(self.x11.XOpenDisplay(display_name.encode()))
        assert self.display, f"cannot open {display_name}"
        root = ctypes.c_ulong(self.x11.XDefaultRootWindow(self.display))
        self.window = self.x11.XCreateSimpleWindow(self.display, root, 0, 0, 1, 1, 0, ctypes.c_ulong(0), ctypes.c_ulong(0))

    def close(self):
        self.x11.XCloseDisplay(self.display)

    def atom(self, name):
        return self.x11.XInternAtom(self.display, name.encode(), 0)

    def send(self, target, event):
        event.display = self.display
        self.x11.XSendEvent(self.display, ctypes.c_ulong(target), 0, ctypes.c_long(0), ctypes.byref(event))
        self.x11.XFlush(self.display)

    def tell(self, target, message, *data):
        event = ClientMessage(type=CLIENT_MESSAGE, window=target, message_type=self.atom(message), format=32)
        event.data[:] = ([self.window] + list(data) + [0] * 4)[:5]
        self.send(target, event)

    def next_event(self):
        """The next event; fails after PATIENCE_S."""
        if not self.x11.XPending(self.display):
            ready, _, _ = select.select([self.x11.XConnectionNumber(self.display)], [], [], PATIENCE_S)
            assert ready, "the window did not answer the drop"
        event = Event()
        self.x11.XNextEvent(self.display, ctypes.byref(event))
        return event

    def wait_for_message(self, name):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            event = self.next_event()
            if event.type == SELECTION_REQUEST:
                self.answer(event.request)
            elif event.type == CLIENT_MESSAGE and event.client.message_type == self.atom(name):
                return event.client
        raise AssertionError(f"no {name}")

    def answer(self, request):
        self.x11.XChangeProperty(self.display, ctypes.c_ulong(request.requestor), ctypes.c_ulong(request.property),
                                 ctypes.c_ulong(request.target), 8, 0, self.dropped, len(self.dropped))
        self.send(request.requestor, SelectionNotify(
            type=SELECTION_NOTIFY, requestor=request.requestor, selection=request.selection, target=request.target,
            property=request.property, time=request.time))

    def drop(self, target, path, x, y):
        """Drops a path at a pixel of the screen and waits until the window has taken it."""
        self.dropped = f"file://{path}\r\n".encode()
        selection = self.atom("XdndSelection")
        self.x11.XSetSelectionOwner(self.display, ctypes.c_ulong(selection), ctypes.c_ulong(self.window), ctypes.c_ulong(0))
        self.tell(target, "XdndEnter", VERSION << 24, self.atom("text/uri-list"))
        self.tell(target, "XdndPosition", 0, x << 16 | y, 0, self.atom("XdndActionCopy"))
        assert self.wait_for_message("XdndStatus").data[1] & 1, "the window takes no drop"
        self.tell(target, "XdndDrop", 0, 0)
        self.wait_for_message("XdndFinished")
