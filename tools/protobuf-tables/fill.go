package main

import (
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const everything = "every field is set"

// fillObject sets every field of an object, each to a value of its own, so that no field can stand for another.
func fillObject(object message) error {
	filler := &filler{}
	value := reflect.ValueOf(object).Elem()
	for index := range value.NumField() {
		if value.Type().Field(index).Type == reflect.TypeFor[metav1.TypeMeta]() {
			continue
		}
		if err := filler.fill(value.Field(index)); err != nil {
			return err
		}
	}
	return nil
}

type filler struct{ count int64 }

func (f *filler) next() int64 {
	f.count++
	return f.count
}

func (f *filler) fill(value reflect.Value) error {
	switch value.Interface().(type) {
	case resource.Quantity:
		value.Set(reflect.ValueOf(resource.MustParse(fmt.Sprintf("%dm", 1000*f.next()+1))))
		return nil
	case metav1.Time:
		value.Set(reflect.ValueOf(metav1.NewTime(time.Unix(1_700_000_000+f.next(), 0).UTC())))
		return nil
	case intstr.IntOrString:
		port := intstr.FromInt32(int32(f.next()))
		if f.count%2 == 0 {
			port = intstr.FromString(fmt.Sprintf("port-%d", f.count))
		}
		value.Set(reflect.ValueOf(port))
		return nil
	case metav1.FieldsV1:
		value.Set(reflect.ValueOf(*metav1.NewFieldsV1(fmt.Sprintf(`{"f:spec":{"f:n%d":{}}}`, f.next()))))
		return nil
	}
	return f.fillPlain(value)
}

func (f *filler) fillPlain(value reflect.Value) error {
	switch value.Kind() {
	case reflect.String:
		value.SetString(fmt.Sprintf("text-%d", f.next()))
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int32, reflect.Int64:
		// Negative ones too: they are the longest.
		value.SetInt(f.next() * (1 - 2*(f.count%2)))
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		return f.fill(value.Elem())
	case reflect.Slice:
		// One message in a list is enough: two would fill the samples with repetition.
		length := 2
		if value.Type().Elem().Kind() == reflect.Struct {
			length = 1
		}
		value.Set(reflect.MakeSlice(value.Type(), length, length))
		for index := range value.Len() {
			if err := f.fill(value.Index(index)); err != nil {
				return err
			}
		}
	case reflect.Map:
		return f.fillMap(value)
	case reflect.Struct:
		for index := range value.NumField() {
			if err := f.fill(value.Field(index)); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("no value for %v", value.Type())
	}
	return nil
}

func (f *filler) fillMap(value reflect.Value) error {
	value.Set(reflect.MakeMap(value.Type()))
	for range 2 {
		key := reflect.New(value.Type().Key()).Elem()
		item := reflect.New(value.Type().Elem()).Elem()
		if err := f.fill(key); err != nil {
			return err
		}
		if err := f.fill(item); err != nil {
			return err
		}
		value.SetMapIndex(key, item)
	}
	return nil
}
