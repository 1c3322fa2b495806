import type { Cause } from "../../api/definition.ts";
import type { JsonValue } from "../../json.ts";
import type { Shape } from "../cel/shape.ts";
import type { Value } from "../cel/values.ts";
import type { Correlation } from "../correlation.ts";
import type { Schema } from "../schema.ts";

/** A value that rules are about. */
export interface RulePlace {
  readonly schema: Schema;
  readonly shape: Shape;
  readonly value: JsonValue;
  /** The value as rules see it. */
  readonly self: Value;
  /** The value it replaces, where that can be told. */
  readonly old: JsonValue | undefined;
  readonly path: string;
  readonly correlation: Correlation | undefined;
}

export interface RuleFindings {
  readonly causes: Cause[];
  readonly warnings: string[];
}
