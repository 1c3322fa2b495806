import { errorText } from "@resource-broker/base";
import {
  createContext,
  type ReactNode,
  type SubmitEvent,
  useCallback,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import type { ApiClient } from "../net/api-client.ts";
import { sentence } from "../format/sentence.ts";
import { useAppDeps, useLiveStatus, useSession } from "../shell/app-deps.ts";
import { Icon } from "./icons.tsx";
import { focusHeading } from "./page.tsx";
import "./button.css";
import "./confirm.css";
import "./controls.css";
import "./toasts.css";

const ToastContext = createContext<(text: string) => void>(() => undefined);

interface ActionProps {
  /** On the button, and on the one that confirms: a verb. */
  readonly verb: string;
  readonly title: string;
  /** What will happen, to whom, and whether it can be taken back. */
  readonly children: ReactNode;
  /** Does it; resolves when the broker has done it. */
  readonly perform: (api: ApiClient, reason: string) => Promise<unknown>;
  /** What was done, in words. */
  readonly doneText: string;
  readonly isDangerous?: boolean;
  /** Asks for a reason, which is kept in the audit log. */
  readonly asksReason?: boolean;
  readonly onDone: () => void;
}

/** Only for admins: a viewer would be refused. Disabled while the broker is not connected. */
export function Action(props: ActionProps) {
  const { role } = useSession();
  const status = useLiveStatus();
  const [isOpen, setOpen] = useState(false);
  if (role !== "admin") return null;
  const isAway = status !== "live";
  return (
    <>
      <button
        type="button"
        className={props.isDangerous === true ? "button is-danger" : "button"}
        disabled={isAway}
        title={isAway ? "The broker is not connected" : undefined}
        onClick={() => setOpen(true)}
      >
        {props.verb}
      </button>
      {isOpen && <ConfirmDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function ConfirmDialog({ onClose, ...action }: ActionProps & { readonly onClose: () => void }) {
  const { api } = useAppDeps();
  const toast = useContext(ToastContext);
  const dialog = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const heading = useId();
  useEffect(() => dialog.current?.showModal(), []);

  const perform = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      await action.perform(api, reason);
      toast(action.doneText);
      action.onDone();
      dialog.current?.close();
      // The button that opened the dialog may no longer exist.
      focusHeading();
    } catch (error) {
      setProblem(errorText(error));
      setBusy(false);
    }
  };

  return (
    <dialog ref={dialog} className="dialog" aria-labelledby={heading} onClose={onClose}>
      <form onSubmit={(event) => void perform(event)}>
        <h2 id={heading}>{action.title}</h2>
        <div className="dialog-text">{action.children}</div>
        {action.asksReason === true && (
          <label className="field">
            <span>Reason (optional, kept in the audit log)</span>
            <input value={reason} maxLength={200} onChange={(event) => setReason(event.target.value)} />
          </label>
        )}
        {problem !== undefined && (
          <p className="notice is-bad" role="alert">
            {sentence(problem)}
          </p>
        )}
        <div className="dialog-actions">
          <button type="button" className="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button
            type="submit"
            className={action.isDangerous === true ? "button is-danger-full" : "button is-primary"}
            disabled={isBusy}
          >
            {isBusy ? "Working …" : action.verb}
          </button>
        </div>
      </form>
    </dialog>
  );
}

const SHOWN_MS = 6000;

/** Tells for a moment what was done. */
export function Toasts({ children }: { readonly children: ReactNode }) {
  const { timers } = useAppDeps();
  const [toasts, setToasts] = useState<readonly { readonly key: number; readonly text: string }[]>([]);
  const toast = useCallback(
    (text: string) => {
      const key = timers.now();
      setToasts((shown) => [...shown, { key, text }]);
      timers.after(SHOWN_MS, () => setToasts((shown) => shown.filter((each) => each.key !== key)));
    },
    [timers],
  );
  return (
    <ToastContext value={toast}>
      {children}
      <div className="toasts" role="status" aria-live="polite">
        {toasts.map(({ key, text }) => (
          <p key={key} className="toast">
            <Icon name="check" /> {text}
          </p>
        ))}
      </div>
    </ToastContext>
  );
}
