// Command crd-oracle says what Kubernetes itself makes of our CustomResourceDefinitions and of objects of their kinds.
//
// It reads definitions and cases as JSON from standard input and writes the verdicts to standard output. The code
// that decides is the API server's own: nothing here may interpret or correct a verdict.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	objectvalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	kubernetesjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

const oracleModule = "k8s.io/apiextensions-apiserver"

type question struct {
	Definitions []json.RawMessage `json:"definitions"`
	Cases       []struct {
		Name   string          `json:"name"`
		Kind   string          `json:"kind"`
		Object json.RawMessage `json:"object"`
		Old    json.RawMessage `json:"old"`
	} `json:"cases"`
}

type problem struct {
	Type   string `json:"type"`
	Field  string `json:"field"`
	Detail string `json:"detail"`
}

type definitionVerdict struct {
	Kind     string    `json:"kind"`
	Problems []problem `json:"problems"`
}

type caseVerdict struct {
	Name     string    `json:"name"`
	Problems []problem `json:"problems"`
}

type answer struct {
	Oracle      string              `json:"oracle"`
	Definitions []definitionVerdict `json:"definitions"`
	Cases       []caseVerdict       `json:"cases"`
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "crd-oracle:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var asked question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return fmt.Errorf("reading the question: %w", err)
	}
	said := answer{Oracle: oracleVersion()}
	judges := map[string]*judge{}
	for _, raw := range asked.Definitions {
		definition, err := readDefinition(raw)
		if err != nil {
			return err
		}
		kind := definition.Spec.Names.Kind
		problems := toProblems(crdvalidation.ValidateCustomResourceDefinition(ctx, definition))
		said.Definitions = append(said.Definitions, definitionVerdict{Kind: kind, Problems: problems})
		if judges[kind], err = newJudge(definition); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	for _, c := range asked.Cases {
		judge := judges[c.Kind]
		if judge == nil {
			return fmt.Errorf("case %q is about the unknown kind %q", c.Name, c.Kind)
		}
		object, err := readObject(c.Object)
		if err != nil {
			return fmt.Errorf("case %q: %w", c.Name, err)
		}
		old, err := readObject(c.Old)
		if err != nil {
			return fmt.Errorf("case %q: %w", c.Name, err)
		}
		said.Cases = append(said.Cases, caseVerdict{Name: c.Name, Problems: judge.verdict(ctx, object, old)})
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	return out.Encode(said)
}

func readDefinition(raw json.RawMessage) (*apiextensions.CustomResourceDefinition, error) {
	var external apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(raw, &external); err != nil {
		return nil, fmt.Errorf("reading a definition: %w", err)
	}
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(&external)
	var definition apiextensions.CustomResourceDefinition
	err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&external, &definition, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", external.Name, err)
	}
	// The API server fills this in on creation.
	for _, version := range definition.Spec.Versions {
		definition.Status.StoredVersions = append(definition.Status.StoredVersions, version.Name)
	}
	return &definition, nil
}

// readObject reads whole numbers as integers, as the API server does; nil means that there is no object.
func readObject(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var object map[string]any
	return object, kubernetesjson.Unmarshal(raw, &object)
}

// judge validates objects of one kind in the same steps as the API server's storage strategy.
type judge struct {
	structural *structuralschema.Structural
	schema     objectvalidation.SchemaValidator
	rules      *schemacel.Validator
}

func newJudge(definition *apiextensions.CustomResourceDefinition) (*judge, error) {
	schema, err := apiextensions.GetSchemaForVersion(definition, definition.Spec.Versions[0].Name)
	if err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(schema.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	validator, _, err := objectvalidation.NewSchemaValidator(schema.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	return &judge{
		structural: structural,
		schema:     validator,
		rules:      schemacel.NewValidator(structural, true, celconfig.PerCallLimit),
	}, nil
}

func (j *judge) verdict(ctx context.Context, object, old map[string]any) []problem {
	found := field.ErrorList{}
	var before any
	if old == nil {
		found = append(found, objectvalidation.ValidateCustomResource(nil, object, j.schema)...)
	} else {
		before = old
		found = append(found, objectvalidation.ValidateCustomResourceUpdate(nil, object, old, j.schema)...)
	}
	found = append(found, listtype.ValidateListSetsAndMaps(nil, j.structural, object)...)
	if !blocksRules(found) {
		broken, _ := j.rules.Validate(ctx, nil, j.structural, object, before, celconfig.RuntimeCELCostBudget)
		found = append(found, broken...)
	}
	return toProblems(found)
}

// blocksRules repeats the API server: rules are not run on objects whose shape is wrong.
func blocksRules(found field.ErrorList) bool {
	for _, err := range found {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		}
	}
	return false
}

func toProblems(found field.ErrorList) []problem {
	problems := []problem{}
	for _, err := range found {
		problems = append(problems, problem{Type: string(err.Type), Field: err.Field, Detail: err.Detail})
	}
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
