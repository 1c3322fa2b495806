// Reads schemas and objects as JSON and answers what a Kubernetes API server makes of them: whether it would install
// the schema, which fields it drops and fills in, and what it says of the object.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"sort"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	objectvalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubernetesjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/warning"
)

const oracleModule = "k8s.io/apiextensions-apiserver"

var kind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}

type question struct {
	Cases []struct {
		Name     string          `json:"name"`
		Schema   json.RawMessage `json:"schema"`
		Object   json.RawMessage `json:"object"`
		Old      json.RawMessage `json:"old"`
		IsStatus bool            `json:"isStatus"`
	} `json:"cases"`
}

type problem struct {
	Reason  string `json:"reason"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

type verdict struct {
	Name       string         `json:"name"`
	Definition []problem      `json:"definition,omitempty"`
	Unknown    []string       `json:"unknown,omitempty"`
	Object     map[string]any `json:"object,omitempty"`
	Causes     []problem      `json:"causes,omitempty"`
	Warnings   []string       `json:"warnings,omitempty"`
}

type answer struct {
	Oracle string    `json:"oracle"`
	Cases  []verdict `json:"cases"`
}

type recorder struct{ warnings []string }

func (r *recorder) AddWarning(_, text string) { r.warnings = append(r.warnings, text) }

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "kube-sim-oracle:", err)
		os.Exit(1)
	}
}

func run() error {
	var asked question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return fmt.Errorf("reading the question: %w", err)
	}
	said := answer{Oracle: oracleVersion()}
	for _, c := range asked.Cases {
		v, err := judge(c.Schema, c.Object, c.Old, c.IsStatus)
		if err != nil {
			return fmt.Errorf("case %q: %w", c.Name, err)
		}
		v.Name = c.Name
		said.Cases = append(said.Cases, *v)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	return out.Encode(said)
}

func judge(rawSchema, rawObject, rawOld json.RawMessage, isStatus bool) (*verdict, error) {
	definition, err := definitionWith(rawSchema)
	if err != nil {
		return nil, err
	}
	if found := crdvalidation.ValidateCustomResourceDefinition(context.Background(), definition); len(found) > 0 {
		return &verdict{Definition: toProblems(found)}, nil
	}
	validation, err := apiextensions.GetSchemaForVersion(definition, kind.Version)
	if err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(validation.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	object, unknown, err := decode(rawObject, structural)
	if err != nil {
		return nil, err
	}
	result := &verdict{Unknown: unknown, Object: object.Object}
	recorded := &recorder{}
	ctx := warning.WithWarningRecorder(context.Background(), recorded)
	found, err := validate(ctx, validation.OpenAPIV3Schema, structural, object, rawOld, isStatus)
	if err != nil {
		return nil, err
	}
	result.Causes = toProblems(found)
	if len(found) > 0 {
		result.Object = nil
	}
	result.Warnings = recorded.warnings
	sort.Strings(result.Warnings)
	return result, nil
}

func validate(ctx context.Context, props *apiextensions.JSONSchemaProps, structural *structuralschema.Structural, object *unstructured.Unstructured, rawOld json.RawMessage, isStatus bool) (field.ErrorList, error) {
	validator, _, err := objectvalidation.NewSchemaValidator(props)
	if err != nil {
		return nil, err
	}
	var statusValidator objectvalidation.SchemaValidator
	if status, ok := props.Properties["status"]; ok {
		if statusValidator, _, err = objectvalidation.NewSchemaValidator(&status); err != nil {
			return nil, err
		}
	}
	strategy := customresource.NewStrategy(nil, true, kind, validator, statusValidator, structural, nil, nil, nil)
	if len(rawOld) == 0 {
		return strategy.Validate(ctx, object), nil
	}
	old := &unstructured.Unstructured{}
	if err := kubernetesjson.Unmarshal(rawOld, &old.Object); err != nil {
		return nil, err
	}
	if isStatus {
		return customresource.NewStatusStrategy(strategy).ValidateUpdate(ctx, object, old), nil
	}
	return strategy.ValidateUpdate(ctx, object, old), nil
}

// decode drops and fills in fields as the API server does when it reads a request.
func decode(raw json.RawMessage, structural *structuralschema.Structural) (*unstructured.Unstructured, []string, error) {
	object := &unstructured.Unstructured{}
	if err := kubernetesjson.Unmarshal(raw, &object.Object); err != nil {
		return nil, nil, err
	}
	options := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	unknown := pruning.PruneWithOptions(object.Object, structural, true, options)
	defaulting.PruneNonNullableNullsWithoutDefaults(object.Object, structural)
	defaulting.Default(object.Object, structural)
	return object, unknown, nil
}

func definitionWith(rawSchema json.RawMessage) (*apiextensions.CustomResourceDefinition, error) {
	raw := fmt.Sprintf(`{"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
		"names":{"kind":"Thing","plural":"things"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":%s}}]}}`, rawSchema)
	var external apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal([]byte(raw), &external); err != nil {
		return nil, fmt.Errorf("reading a schema: %w", err)
	}
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(&external)
	var definition apiextensions.CustomResourceDefinition
	err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&external, &definition, nil)
	if err != nil {
		return nil, err
	}
	definition.Status.StoredVersions = []string{kind.Version}
	return &definition, nil
}

// toProblems sorts, because the API server walks maps and so answers in any order.
func toProblems(found field.ErrorList) []problem {
	problems := []problem{}
	for _, err := range found {
		problems = append(problems, problem{Reason: string(err.Type), Field: err.Field, Message: err.ErrorBody()})
	}
	sort.Slice(problems, func(i, j int) bool {
		return problems[i].Field+problems[i].Message < problems[j].Field+problems[j].Message
	})
	return problems
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
