package main

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// field is one field of a message, under both its names: the number protobuf knows it by, and JSON's text.
type field struct {
	Number int    `json:"number"`
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	// Message names the type of a field of the kind "message".
	Message  string `json:"message,omitempty"`
	Repeated bool   `json:"repeated,omitempty"`
	// Always: Go writes it also when it is not set, because it is not behind a pointer.
	Always bool `json:"always,omitempty"`
	// Inline: JSON writes the message's fields beside this one's siblings.
	Inline bool `json:"inline,omitempty"`
}

// What kube-sim serves, and what clients post to it beside objects.
var roots = []any{
	corev1.Binding{}, corev1.ConfigMap{}, corev1.Event{}, corev1.Namespace{}, corev1.Node{}, corev1.Pod{},
	corev1.Secret{}, corev1.Service{}, corev1.ServiceAccount{},
	coordinationv1.Lease{}, policyv1.Eviction{}, authorizationv1.SelfSubjectAccessReview{},
	metav1.ListMeta{}, metav1.Status{},
}

// Types with an encoding of their own.
var scalars = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():  "quantity",
	reflect.TypeFor[metav1.Time]():        "time",
	reflect.TypeFor[metav1.MicroTime]():   "micro-time",
	reflect.TypeFor[[]byte]():             "bytes",
	reflect.TypeFor[intstr.IntOrString](): "int-or-string",
	reflect.TypeFor[metav1.FieldsV1]():    "fields",
}

// tables describes every message that can be reached from the roots. The struct tags are what both encoders of Go work
// by, and the only place that has both names of a field; generated.proto knows nothing of JSON.
func tables() (map[string][]field, error) {
	found := map[string][]field{}
	origin := map[string]reflect.Type{}
	var visit func(reflect.Type) error
	visit = func(message reflect.Type) error {
		if known, seen := origin[message.Name()]; seen {
			if known != message {
				return fmt.Errorf("%v and %v have the same name", known, message)
			}
			return nil
		}
		origin[message.Name()] = message
		var fields []field
		for index := range message.NumField() {
			one, inner, err := describe(message.Field(index))
			if err != nil {
				return fmt.Errorf("%v: %w", message, err)
			}
			if one == nil {
				continue
			}
			fields = append(fields, *one)
			if inner == nil {
				continue
			}
			if err := visit(inner); err != nil {
				return err
			}
		}
		slices.SortFunc(fields, func(a, b field) int { return a.Number - b.Number })
		found[message.Name()] = fields
		return nil
	}
	for _, root := range roots {
		if err := visit(reflect.TypeOf(root)); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// describe returns nil for a field that does not travel, and the type of the message for one that is one.
func describe(member reflect.StructField) (*field, reflect.Type, error) {
	tag, ok := member.Tag.Lookup("protobuf")
	if !ok {
		// TypeMeta is the only one: it travels in the wrapping.
		if member.Type == reflect.TypeFor[metav1.TypeMeta]() {
			return nil, nil, nil
		}
		return nil, nil, fmt.Errorf("%s has no protobuf tag", member.Name)
	}
	number, err := strconv.Atoi(strings.Split(tag, ",")[1])
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", member.Name, err)
	}
	name, _, _ := strings.Cut(member.Tag.Get("json"), ",")
	one := &field{Number: number, Name: name}
	if name == "" {
		one.Name, one.Inline = member.Name, true
	}
	kind, inner, err := one.kindOf(member.Type)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", member.Name, err)
	}
	one.Kind = kind
	if inner != nil {
		one.Message = inner.Name()
	}
	if one.Inline && (inner == nil || !one.Always) {
		return nil, nil, fmt.Errorf("no word for %s, which has no name in JSON", member.Name)
	}
	return one, inner, nil
}

// kindOf also notes whether the field is repeated and whether it is always written.
func (f *field) kindOf(of reflect.Type) (string, reflect.Type, error) {
	switch of.Kind() {
	case reflect.Pointer:
		return valueKind(of.Elem())
	case reflect.Slice:
		f.Repeated = true
		return valueKind(of.Elem())
	case reflect.Map:
		return mapKind(of)
	}
	f.Always = true
	return valueKind(of)
}

func mapKind(of reflect.Type) (string, reflect.Type, error) {
	value, inner, err := valueKind(of.Elem())
	if err != nil {
		return "", nil, err
	}
	if of.Key().Kind() != reflect.String || inner != nil || (value != "string" && value != "quantity" && value != "bytes") {
		return "", nil, fmt.Errorf("no word for %v", of)
	}
	return value + "-map", nil, nil
}

func valueKind(of reflect.Type) (string, reflect.Type, error) {
	if scalar, ok := scalars[of]; ok {
		return scalar, nil, nil
	}
	switch of.Kind() {
	case reflect.String:
		return "string", nil, nil
	case reflect.Bool:
		return "bool", nil, nil
	case reflect.Int32, reflect.Int64:
		return "int", nil, nil
	case reflect.Struct:
		return "message", of, nil
	}
	return "", nil, fmt.Errorf("no word for %v", of)
}
