import type { ReactNode } from "react";
import { sentence } from "../format/sentence.ts";
import type { ApiError } from "../net/api-client.ts";
import type { ReloadableAnswer } from "../shell/app-deps.ts";
import { Icon, type IconName } from "./icons.tsx";
import "./button.css";
import "./states.css";

interface EmptyProps {
  readonly title: string;
  readonly children?: ReactNode;
  readonly icon?: IconName;
}

export function Empty({ title, children, icon = "empty" }: EmptyProps) {
  return (
    <div className="state">
      <span className="state-icon">
        <Icon name={icon} size={24} />
      </span>
      <p className="state-title">{title}</p>
      {children !== undefined && <div className="state-text">{children}</div>}
    </div>
  );
}

function Failed({ failure, retry }: { readonly failure: ApiError; readonly retry: () => void }) {
  const title = failure.status === 404 ? "Not found" : "Loading failed";
  return (
    <div className="state" role="alert">
      <span className="state-icon is-bad">
        <Icon name="warning" size={24} />
      </span>
      <p className="state-title">{title}</p>
      <p className="state-text">{sentence(failure.message)}</p>
      <button type="button" className="button" onClick={retry}>
        Try again
      </button>
    </div>
  );
}

/** In the shape of what will stand here, so that nothing jumps. */
export function Loading({ rows }: { readonly rows: number }) {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} className="skeleton-row" />
      ))}
    </div>
  );
}

interface AnswerViewProps<T> {
  readonly answer: ReloadableAnswer<T>;
  readonly rows?: number;
  readonly children: (data: T) => ReactNode;
}

/** The data; before it is loaded a skeleton; an error is shown above known data and does not replace it. */
export function AnswerView<T>({ answer, rows = 8, children }: AnswerViewProps<T>) {
  const { data, failure, isLoading, reload } = answer;
  if (data === undefined) {
    return failure === undefined ? <Loading rows={rows} /> : <Failed failure={failure} retry={reload} />;
  }
  return (
    <div className={isLoading ? "answer is-loading" : "answer"} aria-busy={isLoading}>
      {failure !== undefined && (
        <p className="notice is-bad" role="alert">
          <Icon name="warning" /> {sentence(failure.message)} The last known data is shown.
        </p>
      )}
      {children(data)}
    </div>
  );
}
