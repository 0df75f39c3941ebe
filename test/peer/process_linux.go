package peer

import "syscall"

// childAttr puts a server into a process group of its own, so that a Ctrl-C of
// the test does not race the clean stop, and lets the kernel end it when the
// test binary is gone: a test that times out must not leave a JVM behind.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
