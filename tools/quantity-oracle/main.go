// Command quantity-oracle says what Kubernetes itself makes of each quantity it is given.
//
// It reads groups of inputs as JSON from standard input and writes one record per input to standard output.
// Our own parser is compared with these records, so nothing here may interpret or correct an answer.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	oracleModule = "k8s.io/apimachinery"
	patience     = 10 * time.Second
)

type group struct {
	Name   string   `json:"name"`
	Inputs []string `json:"inputs"`
}

type answer struct {
	Group string `json:"group"`
	Input string `json:"input"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	*reading
}

// Whole numbers are written as strings: int64 does not fit a JSON number.
type reading struct {
	// Printed is String(), which repeats the input when the parser believes it to be canonical already.
	Printed string `json:"printed"`
	// Canonical is the canonical form computed from the value, whatever the input looked like.
	Canonical  string `json:"canonical"`
	Format     string `json:"format"`
	Sign       int    `json:"sign"`
	Value      string `json:"value"`
	MilliValue string `json:"milliValue"`
	// The exact value is Unscaled / 10^Scale.
	Unscaled string `json:"unscaled"`
	Scale    int32  `json:"scale"`
}

type report struct {
	Oracle string
	Cases  []answer
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "quantity-oracle:", err)
		os.Exit(1)
	}
}

func run() error {
	var groups []group
	if err := json.NewDecoder(os.Stdin).Decode(&groups); err != nil {
		return fmt.Errorf("reading the inputs: %w", err)
	}
	version, err := oracleVersion()
	if err != nil {
		return err
	}
	result := report{Oracle: oracleModule + " " + version}
	for _, group := range groups {
		for _, input := range group.Inputs {
			// Some texts keep Kubernetes busy for minutes; say which, instead of hanging.
			alarm := time.AfterFunc(patience, func() {
				fmt.Fprintf(os.Stderr, "quantity-oracle: Kubernetes gave no answer to %q in %s\n", input, patience)
				os.Exit(1)
			})
			result.Cases = append(result.Cases, ask(group.Name, input))
			alarm.Stop()
		}
	}
	return write(result)
}

// write puts one case on each line, so that a changed answer is a changed line in a review.
func write(result report) error {
	out := bufio.NewWriter(os.Stdout)
	fmt.Fprintf(out, "{\n\"oracle\": %q,\n\"cases\": [\n", result.Oracle)
	for i, each := range result.Cases {
		line, err := json.Marshal(each)
		if err != nil {
			return fmt.Errorf("writing the answer to %q: %w", each.Input, err)
		}
		out.Write(line)
		if i < len(result.Cases)-1 {
			out.WriteString(",")
		}
		out.WriteString("\n")
	}
	out.WriteString("]\n}\n")
	return out.Flush()
}

func oracleVersion() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, module := range info.Deps {
			if module.Path == oracleModule {
				return module.Version, nil
			}
		}
	}
	return "", fmt.Errorf("this binary does not say which version of %s it was built with", oracleModule)
}

func ask(group, input string) answer {
	quantity, err := resource.ParseQuantity(input)
	if err != nil {
		return answer{Group: group, Input: input, Error: err.Error()}
	}
	number, suffix := quantity.CanonicalizeBytes(nil)
	result := &reading{
		Printed:    quantity.String(),
		Canonical:  string(number) + string(suffix),
		Format:     string(quantity.Format),
		Sign:       quantity.Sign(),
		Value:      strconv.FormatInt(quantity.Value(), 10),
		MilliValue: strconv.FormatInt(quantity.MilliValue(), 10),
	}
	// Last, because AsDec changes the quantity it is called on.
	exact := quantity.AsDec()
	result.Unscaled = exact.UnscaledBig().String()
	result.Scale = int32(exact.Scale())
	return answer{Group: group, Input: input, OK: true, reading: result}
}
