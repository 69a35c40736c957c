# Runs a program in a new pseudo-terminal of so many columns, and passes on what is typed and shown.
import fcntl, os, pty, select, struct, sys, termios
columns, argv = int(sys.argv[1]), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    os.execv(argv[0], argv)
sources = [fd, 0]
while True:
    ready = select.select(sources, [], [])[0]
    if fd in ready:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        os.write(1, data)
    if 0 in ready:
        data = os.read(0, 65536)
        if data:
            os.write(fd, data)
        else:
            sources.remove(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
