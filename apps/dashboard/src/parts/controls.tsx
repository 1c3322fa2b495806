import { useEffect, useId, useRef, useState } from "react";
import { useAppDeps } from "../shell/app-deps.ts";
import { Icon } from "./icons.tsx";
import { focusHeading } from "./page.tsx";
import "./controls.css";

const PAUSE_IN_TYPING_MS = 50;

interface SearchBoxProps {
  readonly value: string;
  readonly label: string;
  readonly onSearch: (text: string) => void;
}

/** Searches when typing pauses, so that not every letter is a question. */
export function SearchBox({ value, label, onSearch }: SearchBoxProps) {
  const { timers } = useAppDeps();
  const [text, setText] = useState(value);
  const lastSearch = useRef(value);
  const cancel = useRef((): void => undefined);
  // Somebody else changed it: a link, or the back button.
  useEffect(() => {
    if (value !== lastSearch.current) setText(value);
    lastSearch.current = value;
  }, [value]);
  useEffect(() => () => cancel.current(), []);

  const change = (next: string, pauseMs: number): void => {
    setText(next);
    cancel.current();
    cancel.current = timers.after(pauseMs, () => {
      lastSearch.current = next;
      onSearch(next);
    });
  };
  return (
    <label className="search">
      <Icon name="search" />
      <span className="hidden">{label}</span>
      <input
        type="search"
        value={text}
        placeholder={label}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => change(event.target.value, PAUSE_IN_TYPING_MS)}
      />
    </label>
  );
}

interface ChoiceProps<Name extends string> {
  readonly label: string;
  readonly value: Name;
  readonly options: readonly { readonly name: Name; readonly title: string }[];
  readonly onChoose: (name: Name) => void;
}

/** One of a few: radio buttons, so that arrow keys work as people expect. */
export function RadioGroup<Name extends string>({ label, value, options, onChoose }: ChoiceProps<Name>) {
  const group = useId();
  return (
    <fieldset className="segments">
      <legend className="hidden">{label}</legend>
      {options.map(({ name, title }) => (
        <label key={name} className="segment">
          <input
            type="radio"
            name={group}
            value={name}
            checked={name === value}
            onChange={() => onChoose(name)}
          />
          <span>{title}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** One of many. */
export function Select<Name extends string>({ label, value, options, onChoose }: ChoiceProps<Name>) {
  return (
    <label className="select">
      <span className="select-label">{label}</span>
      <select
        value={value}
        onChange={(event) => {
          const chosen = options.find(({ name }) => name === event.target.value);
          if (chosen !== undefined) onChoose(chosen.name);
        }}
      >
        {options.map(({ name, title }) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A filter that came by a link, with the way out of it. */
export function FilterChip({
  label,
  value,
  onClear,
}: {
  readonly label: string;
  readonly value: string;
  readonly onClear: () => void;
}) {
  const clear = (): void => {
    onClear();
    focusHeading();
  };
  return (
    <span className="filter-chip">
      {label} <strong>{value}</strong>
      <button type="button" onClick={clear} aria-label={`Remove the filter ${label} ${value}`}>
        <Icon name="close" size={12} />
      </button>
    </span>
  );
}
