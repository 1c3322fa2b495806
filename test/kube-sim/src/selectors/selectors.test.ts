import { describe, expect, it } from "vitest";
import { POD, refusalText, WIDGET } from "../api/testing/small-cluster.ts";
import { fieldSelector } from "./field-selector.ts";
import { labelSelector } from "./label-selector.ts";
import { selectorOf } from "./selection.ts";

const LABELS = { app: "web", tier: "front", empty: "", "example.com/size": "12", in: "yes" };
const OBJECT = { metadata: { name: "a", namespace: "default", labels: LABELS }, spec: { nodeName: "n,1" } };

describe("a label selector", () => {
  it.each([
    ["", true],
    ["app=web", true],
    ["app==web", true],
    ["app=db", false],
    ["app!=db", true],
    ["app!=web", false],
    ["missing!=web", true],
    ["missing=web", false],
    ["app", true],
    ["missing", false],
    ["!missing", true],
    ["! app", false],
    ["app in (web, db)", true],
    ["app in (db)", false],
    ["missing in (web)", false],
    ["app notin (db)", true],
    ["app notin (web,db)", false],
    ["missing notin (web)", true],
    ["empty=", true],
    ["empty in (,x)", true],
    ["app=", false],
    ["example.com/size>11", true],
    ["example.com/size<12", false],
    ["app>1", false],
    ["in in (yes)", true],
    ["app = web , tier in (front,back),!missing", true],
    ["app=web,tier=back", false],
    ["constructor", false],
    ["!toString", true],
  ])("%s: %s", (text, expected) => {
    expect(labelSelector(text)(OBJECT)).toBe(expected);
  });

  it.each([
    ["app in web", "unable to parse requirement: found 'web' expected: '('"],
    ["app IN (a)", "unable to parse requirement: found 'IN', expected: in, notin, =, ==, !=, gt, lt"],
    ["app=web,", "found '', expected: identifier after ','"],
    [",app", "found ',', expected: !, identifier, or 'end of string'"],
    ["app=web tier", "found 'tier', expected: ',' or 'end of string'"],
    ["app in (a", "unable to parse requirement: found '', expected: ',' or ')'"],
    ["app=(a)", "unable to parse requirement: found '(', expected: identifier"],
    ["!", "unable to parse requirement: found '', expected: identifier"],
    ["app==!", "unable to parse requirement: found '!', expected: identifier"],
    [
      "-a=b",
      "unable to parse requirement: <nil>: Invalid value: \"-a\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
    [
      "a=-b",
      "unable to parse requirement: values[0][a]: Invalid value: \"-b\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
    [
      "a>b",
      "unable to parse requirement: values[0][a]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
  ])("refuses %s", (text, message) => {
    expect(refusalText(() => labelSelector(text))).toBe(`400 BadRequest: ${message}`);
  });
});

describe("a field selector", () => {
  it.each([
    ["metadata.name=a", true],
    ["metadata.name==a", true],
    ["metadata.name!=a", false],
    ["metadata.namespace=default,metadata.name=a", true],
    ["spec.nodeName=n\\,1", true],
    ["spec.nodeName=", false],
    ["spec.nodeName!=", true],
    [",metadata.name=a,", true],
  ])("%s: %s", (text, expected) => {
    expect(fieldSelector(POD, text).matches(OBJECT)).toBe(expected);
  });

  it.each([
    ["spec.unknown=a", "field label not supported: spec.unknown"],
    ["constructor=a", "field label not supported: constructor"],
    ["metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ["metadata.name=a\\b", "invalid field selector: invalid escape sequence: \\b"],
    ["metadata.name=a=b", "invalid field selector: unescaped '=' in value: a=b"],
  ])("refuses %s", (text, message) => {
    expect(refusalText(() => fieldSelector(POD, text))).toBe(`400 BadRequest: ${message}`);
  });

  it("offers the namespace only where there is one", () => {
    const definition = { ...WIDGET, isNamespaced: false };
    expect(refusalText(() => fieldSelector(definition, "metadata.namespace=a"))).toContain("not supported");
  });
});

describe("a selection", () => {
  it("asks for both labels and fields", () => {
    const selector = selectorOf(POD, { labelSelector: "app=web", fieldSelector: "metadata.name=b" });
    expect(selector.matches(OBJECT)).toBe(false);
    expect(selector.matches({ metadata: { ...OBJECT.metadata, name: "b" } })).toBe(true);
    expect(selector).toMatchObject({ isOpen: false, name: "b" });
    expect(selectorOf(POD, {})).toMatchObject({ isOpen: true });
  });
});
