import type { UiReservationDetail } from "@resource-broker/contract";
import { Icon, type IconName } from "../parts/icons.tsx";
import { type StepState, timelineView } from "./reservation-view.ts";
import "./timeline.css";

const SIGNS: Readonly<Record<StepState, IconName | null>> = {
  done: "check",
  current: "clock",
  waiting: null,
  skipped: "close",
};

const WORDS: Readonly<Record<StepState, string>> = {
  done: "done",
  current: "in progress",
  waiting: "not yet",
  skipped: "never reached",
};

export function Timeline({ reservation }: { readonly reservation: UiReservationDetail }) {
  return (
    <ol className="timeline">
      {timelineView(reservation).map(({ step, state, at, since, text }) => {
        const sign = SIGNS[state];
        return (
          <li key={step} className={`step is-${state}`}>
            <span className="step-dot">{sign !== null && <Icon name={sign} size={12} />}</span>
            <span className="step-name">
              {step}
              <span className="hidden"> ({WORDS[state]})</span>
            </span>
            {at !== "" && (
              <span className="step-time num">
                {at} <span className="faint">{since}</span>
              </span>
            )}
            <span className="step-text">{text}</span>
          </li>
        );
      })}
    </ol>
  );
}
