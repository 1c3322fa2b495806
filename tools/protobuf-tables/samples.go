package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
)

const mediaType = "application/vnd.kubernetes.protobuf"

type object struct {
	Name   string          `json:"name"`
	Kind   string          `json:"kind"`
	Object json.RawMessage `json:"object"`
}

// sample is an object in both of Go's encodings; Go writes bytes as base64.
type sample struct {
	Name string          `json:"name"`
	Kind string          `json:"kind"`
	JSON json.RawMessage `json:"json"`
	// Protobuf is the message alone, not wrapped.
	Protobuf []byte `json:"protobuf"`
}

// event is what is told on a watch: a kind of event and its object.
type event struct {
	Type   watch.EventType `json:"type"`
	Object json.RawMessage `json:"object"`
}

type answer struct {
	Oracle  string   `json:"oracle"`
	Objects []sample `json:"objects"`
	// The rest as it travels: wrapped, and a watch in frames.
	PodList wrapped `json:"podList"`
	Status  wrapped `json:"status"`
	Watch   stream  `json:"watch"`
}

type wrapped struct {
	JSON     json.RawMessage `json:"json"`
	Protobuf []byte          `json:"protobuf"`
}

type stream struct {
	Events   []event `json:"events"`
	Protobuf []byte  `json:"protobuf"`
}

type message interface {
	runtime.Object
	Marshal() ([]byte, error)
}

func samples(oracle string, asked []object) (*answer, error) {
	said := &answer{Oracle: oracle}
	objects, err := readAll(asked)
	if err != nil {
		return nil, err
	}
	for index, one := range objects {
		kind := one.GetObjectKind().GroupVersionKind().Kind
		name := everything
		if index < len(asked) {
			name = asked[index].Name
		}
		raw, err := one.Marshal()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		text, err := json.Marshal(one)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		said.Objects = append(said.Objects, sample{Name: name, Kind: kind, JSON: text, Protobuf: raw})
	}
	return said, travelling(said, objects)
}

// readAll reads what was asked and adds a pod and a node in which every field is set.
func readAll(asked []object) ([]message, error) {
	var objects []message
	for _, one := range asked {
		into, err := newObject(one.Kind)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(one.Object, into); err != nil {
			return nil, fmt.Errorf("%s: %w", one.Name, err)
		}
		objects = append(objects, into)
	}
	for _, kind := range []string{"Pod", "Node"} {
		into, err := newObject(kind)
		if err != nil {
			return nil, err
		}
		if err := fillObject(into); err != nil {
			return nil, err
		}
		objects = append(objects, into)
	}
	return objects, nil
}

func newObject(kind string) (message, error) {
	var into message
	switch kind {
	case "Pod":
		into = &corev1.Pod{}
	case "Node":
		into = &corev1.Node{}
	default:
		return nil, fmt.Errorf("no word for the kind %q", kind)
	}
	into.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	return into, nil
}

// travelling writes a list, a refusal and a watch with the very encoders an API server chooses for the media type.
func travelling(said *answer, objects []message) error {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return err
	}
	metav1.AddToGroupVersion(scheme, corev1.SchemeGroupVersion)
	codecs := serializer.NewCodecFactory(scheme)
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		return fmt.Errorf("this Kubernetes does not know %s", mediaType)
	}
	var pods []corev1.Pod
	for _, one := range objects {
		if pod, isPod := one.(*corev1.Pod); isPod && len(pods) < 3 {
			pods = append(pods, *pod)
		}
	}
	rest := int64(7)
	list := &corev1.PodList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"},
		ListMeta: metav1.ListMeta{ResourceVersion: "4711", Continue: "next page", RemainingItemCount: &rest},
		Items:    pods,
	}
	gone := &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410,
		Message: "too old resource version: 1 (4711)",
		Details: &metav1.StatusDetails{
			Name: "web", Kind: "pods", RetryAfterSeconds: 3,
			Causes: []metav1.StatusCause{{Type: "ResourceVersionTooLarge", Message: "Too large", Field: "resourceVersion"}},
		},
	}
	var err error
	if said.PodList.JSON, said.PodList.Protobuf, err = bothWays(info.Serializer, list); err != nil {
		return err
	}
	if said.Status.JSON, said.Status.Protobuf, err = bothWays(info.Serializer, gone); err != nil {
		return err
	}
	bookmark, err := newObject("Pod")
	if err != nil {
		return err
	}
	bookmark.(*corev1.Pod).ResourceVersion = "4720"
	var written bytes.Buffer
	frames := info.StreamSerializer.Framer.NewFrameWriter(&written)
	for _, told := range []struct {
		kind   watch.EventType
		object runtime.Object
	}{
		{watch.Added, &pods[0]}, {watch.Modified, &pods[1]}, {watch.Bookmark, bookmark}, {watch.Deleted, &pods[2]}, {watch.Error, gone},
	} {
		text, wrapped, err := bothWays(info.Serializer, told.object)
		if err != nil {
			return err
		}
		frame := &metav1.WatchEvent{Type: string(told.kind), Object: runtime.RawExtension{Raw: wrapped}}
		if err := info.StreamSerializer.Serializer.Encode(frame, frames); err != nil {
			return err
		}
		said.Watch.Events = append(said.Watch.Events, event{Type: told.kind, Object: text})
	}
	said.Watch.Protobuf = written.Bytes()
	return nil
}

func bothWays(encoder runtime.Encoder, object runtime.Object) (json.RawMessage, []byte, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, nil, err
	}
	var binary bytes.Buffer
	err = encoder.Encode(object, &binary)
	return text, binary.Bytes(), err
}
