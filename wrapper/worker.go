package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// Between asking a command that took too long to end, and ending it.
	grace = 10 * time.Second
	// Of what a failed command wrote into its result file.
	mostMessage = 4095
)

type worker struct {
	command []string
	stdin   bool
	timeout time.Duration // 0: none
}

// attempt runs the command once. It returns errStopped or errGone where nobody is to hear how that ended, another
// error where it can't be run at all.
func (worker worker) attempt(item *item, stop <-chan os.Signal, gone <-chan struct{}) (*report, error) {
	given, err := worker.layOut(item)
	if err != nil {
		return nil, err
	}
	defer given.Close()
	command := exec.Command(worker.command[0], worker.command[1:]...)
	command.Stdin, command.Stdout, command.Stderr = given, os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		return nil, err
	}
	group := -command.Process.Pid
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(ended)
	}()
	var done report
	var inVain error
	var late, over <-chan time.Time
	if worker.timeout > 0 {
		late = time.After(worker.timeout)
	}
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-stop:
			inVain = errStopped
			_ = syscall.Kill(group, syscall.SIGTERM)
		case <-gone:
			inVain, gone = errGone, nil
			_ = syscall.Kill(group, syscall.SIGTERM)
			over = time.After(grace)
		case <-late:
			done.TimedOut = true
			_ = syscall.Kill(group, syscall.SIGTERM)
			over = time.After(grace)
		case <-over:
			_ = syscall.Kill(group, syscall.SIGKILL)
		}
	}
	sweep(group)
	if inVain != nil {
		return nil, inVain
	}
	done.Exit = exitCode(command.ProcessState)
	if done.TimedOut {
		done.Exit = terminated
	}
	if done.Exit != 0 {
		done.Message = result()
	}
	return &done, nil
}

// layOut writes the item where the environment says, in place of the one before; it returns the standard input.
func (worker worker) layOut(item *item) (*os.File, error) {
	if path := os.Getenv("WORK_RESULT_FILE"); path != "" {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			return nil, err
		}
	}
	file := os.Getenv("WORK_ITEM_FILE")
	if err := os.WriteFile(file, item.Data, 0o644); err != nil {
		return nil, err
	}
	folder := os.Getenv("WORK_ITEM_DIR")
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return nil, err
	}
	for name, text := range item.Fields {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return nil, err
		}
	}
	if !worker.stdin {
		return os.Open(os.DevNull)
	}
	path := filepath.Join(filepath.Dir(file), "stdin")
	if err := os.WriteFile(path, item.Stdin, 0o644); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// sweep ends what a command left behind, and collects the dead: in its container the wrapper is process 1.
func sweep(group int) {
	_ = syscall.Kill(group, syscall.SIGKILL)
	for {
		if process, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); process <= 0 || err != nil {
			return
		}
	}
}

// As a shell says it.
func exitCode(state *os.ProcessState) int {
	if status := state.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

func result() string {
	file, err := os.Open(os.Getenv("WORK_RESULT_FILE"))
	if err != nil {
		return ""
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, mostMessage))
	return string(text)
}
