import { type ReactNode, useEffect, useId, useState } from "react";
import { percent } from "../format/amounts.ts";
import "../parts/button.css";
import "../parts/controls.css";
import { type FormField, readWeights, type WhatIfForm, writeWeights } from "./what-if-form.ts";

interface FieldsProps {
  readonly form: WhatIfForm;
  readonly set: (field: FormField, value: string) => void;
  readonly clusters: readonly string[];
  readonly regions: readonly string[];
  readonly policyWeights: Readonly<Record<string, number>>;
}

export function Fields({ form, set, clusters, regions, policyWeights }: FieldsProps) {
  const clusterList = useId();
  const regionList = useId();
  const text = (field: FormField, label: string, more: Partial<TextProps> = {}): ReactNode => (
    <TextField label={label} value={form[field]} onChange={(value) => set(field, value)} {...more} />
  );
  return (
    <form className="card form" onSubmit={(event) => event.preventDefault()} aria-label="The request">
      <datalist id={clusterList}>
        {clusters.map((id) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      <datalist id={regionList}>
        {regions.map((region) => (
          <option key={region} value={region} />
        ))}
      </datalist>
      {text("requester", "Requester", { list: clusterList })}
      <div className="form-row">
        {text("cpu", "CPU")}
        {text("memory", "Memory")}
        {text("gpu", "GPU", { hint: "none" })}
      </div>
      <div className="form-row is-two">
        {text("duration", "Duration", { hint: "until released" })}
        <label className="field">
          <span>Tier</span>
          <select value={form.tier} onChange={(event) => set("tier", event.target.value)}>
            <option value="">on-demand</option>
            <option value="spot">spot</option>
          </select>
        </label>
      </div>
      <fieldset className="form-group">
        <legend>Constraints</legend>
        {text("regions", "Regions", { hint: "any", list: regionList })}
        {text("labels", "Labels", { hint: "tier=gold" })}
        {text("target", "Only this cluster", { hint: "any", list: clusterList })}
        {text("exclude", "Never these", { hint: "none", list: clusterList })}
      </fieldset>
      <Weights value={form.weights} policy={policyWeights} onChange={(weights) => set("weights", weights)} />
    </form>
  );
}

interface TextProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string;
  readonly list?: string;
}

function TextField({ label, value, onChange, hint, list }: TextProps) {
  // What is being typed is kept here: the address follows, and must not move the cursor.
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return (
    <label className="field">
      <span>{label}</span>
      <input
        value={text}
        placeholder={hint}
        list={list}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => {
          setText(event.target.value);
          onChange(event.target.value);
        }}
      />
    </label>
  );
}

interface WeightsProps {
  readonly value: string;
  readonly policy: Readonly<Record<string, number>>;
  readonly onChange: (weights: string) => void;
}

function Weights({ value, policy, onChange }: WeightsProps) {
  const chosen = readWeights(value);
  const weights = { ...policy, ...chosen };
  const sum = Object.values(weights).reduce((total, weight) => total + weight, 0) || 1;
  return (
    <fieldset className="form-group">
      <legend>Weights</legend>
      {Object.entries(weights).map(([name, weight]) => (
        <label key={name} className="slider">
          <span>{name}</span>
          <input
            type="range"
            min={0}
            max={1}
            step={0.05}
            value={weight}
            aria-valuetext={percent(weight / sum)}
            onChange={(event) => onChange(writeWeights({ ...weights, [name]: Number(event.target.value) }))}
          />
          <span className="num">{percent(weight / sum)}</span>
        </label>
      ))}
      {chosen !== null && (
        <button type="button" className="button is-small" onClick={() => onChange("")}>
          Back to the policy’s weights
        </button>
      )}
    </fieldset>
  );
}
