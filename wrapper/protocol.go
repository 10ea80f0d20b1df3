package main

import (
	"encoding/json"
	"net"
)

// A JSON text to the sidecar: at first, and after an answer without an item, to take a message; after each attempt
// at its command, how that ended.
type request struct {
	Take   bool    `json:"take,omitempty"`
	Report *report `json:"report,omitempty"`
}

type report struct {
	Exit     int    `json:"exit"`
	TimedOut bool   `json:"timed_out"`
	Message  string `json:"message"`
}

// A JSON text from the sidecar: an item to work on, also the same one again after a failure; or that this was the
// last one; or, with neither, to take the next one. Without an item, what was reported has been acknowledged.
type answer struct {
	Item *item `json:"item"`
	Over bool  `json:"over"`
}

// What the command finds in its files; JSON has bytes in base64.
type item struct {
	Data   []byte            `json:"data"`
	Stdin  []byte            `json:"stdin"`
	Fields map[string][]byte `json:"fields"`
}

type sidecar struct {
	connection net.Conn
	answers    <-chan answer
	gone       <-chan struct{} // closed when the sidecar is gone
}

func dial() (*sidecar, error) {
	connection, err := net.Dial("unix", socket())
	if err != nil {
		return nil, err
	}
	answers, gone := make(chan answer), make(chan struct{})
	go func() {
		defer close(gone)
		for decoder := json.NewDecoder(connection); ; {
			var next answer
			if decoder.Decode(&next) != nil {
				return
			}
			answers <- next
		}
	}()
	return &sidecar{connection, answers, gone}, nil
}

// A sidecar that can't be told is one that doesn't answer either.
func (sidecar *sidecar) send(request request) {
	_ = json.NewEncoder(sidecar.connection).Encode(request)
}
