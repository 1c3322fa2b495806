// Command protobuf-tables says how Kubernetes' own Go code writes objects as protobuf.
//
// It reads a question as JSON from standard input: {"ask": "tables"} for the fields of every message, or
// {"ask": "samples", "objects": [...]} for those objects as Go writes them. Nothing here may interpret or correct.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
)

const oracleModule = "k8s.io/api"

type question struct {
	Ask     string   `json:"ask"`
	Objects []object `json:"objects"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "protobuf-tables:", err)
		os.Exit(1)
	}
}

func run() error {
	var asked question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return fmt.Errorf("reading the question: %w", err)
	}
	answer, err := reply(asked)
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	return out.Encode(answer)
}

func reply(asked question) (any, error) {
	oracle := oracleVersion()
	switch asked.Ask {
	case "tables":
		messages, err := tables()
		return map[string]any{"oracle": oracle, "messages": messages}, err
	case "samples":
		return samples(oracle, asked.Objects)
	}
	return nil, fmt.Errorf("nobody knows how to answer %q", asked.Ask)
}

func oracleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == oracleModule {
				return oracleModule + " " + dependency.Version
			}
		}
	}
	return oracleModule
}
