// wqc-wrapper runs a batch's command once for each message that the sidecar beside it hands out.
//
//	wqc-wrapper install PATH   copy itself to where the worker's container finds it
//	wqc-wrapper ready          whether the sidecar listens: its startup probe
//	wrapper [--stdin] [--timeout=SECONDS] -- COMMAND…
//
// It is static, so that the worker's image needs nothing: no Python, no shell, no C library. What it says to the
// sidecar and hears is in protocol.go.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

var (
	errGone = errors.New("the sidecar is gone: the broker delivers the message again")
	// Some commands end with 0 when told to end, whether their work is done or not.
	errStopped = errors.New("told to end")
)

// 128 + SIGTERM: the pod was told to end, and the broker has the message still.
const terminated = 143

func main() {
	switch arguments := os.Args[1:]; {
	case len(arguments) == 2 && arguments[0] == "install":
		end(install(arguments[1]))
	case len(arguments) == 1 && arguments[0] == "ready":
		connection, err := net.Dial("unix", socket())
		if err == nil {
			connection.Close()
		}
		end(err)
	}
	stdin := flag.Bool("stdin", false, "the command reads its item from standard input")
	seconds := flag.Float64("timeout", 0, "how long the command may take")
	flag.Parse()
	if flag.NArg() == 0 {
		end(fmt.Errorf("no command: wrapper [--stdin] [--timeout=SECONDS] -- COMMAND…"))
	}
	// before a message is taken: one that can't be worked on here is none that failed
	if _, err := exec.LookPath(flag.Arg(0)); err != nil {
		end(err)
	}
	timeout := time.Duration(*seconds * float64(time.Second))
	os.Exit(work(worker{command: flag.Args(), stdin: *stdin, timeout: timeout}))
}

// work returns the exit code: 0 only after the last message was acknowledged.
func work(worker worker) int {
	sidecar, err := dial()
	if err != nil {
		return complain(err)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	sidecar.send(request{Take: true})
	for stopping, reported := false, false; ; {
		select {
		case <-stop:
			stopping = true
			if !reported {
				return terminated
			}
		case <-sidecar.gone:
			return complain(errGone)
		case answer := <-sidecar.answers:
			switch {
			case answer.Over:
				return 0
			case stopping:
				return terminated
			case answer.Item == nil:
				reported = false
				sidecar.send(request{Take: true})
			default:
				report, err := worker.attempt(answer.Item, stop, sidecar.gone)
				switch {
				case err == errStopped:
					return terminated
				case err != nil:
					return complain(err)
				}
				reported = true
				sidecar.send(request{Report: report})
			}
		}
	}
}

func install(path string) error {
	own, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	fresh, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(fresh, own); err != nil {
		return err
	}
	if err := fresh.Close(); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func socket() string {
	folder := os.Getenv("WQC_BATCH")
	if folder == "" {
		folder = "/wqc/batch"
	}
	return filepath.Join(folder, "socket")
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "wqc-wrapper:", err)
	return 1
}

func end(err error) {
	if err != nil {
		os.Exit(complain(err))
	}
	os.Exit(0)
}
