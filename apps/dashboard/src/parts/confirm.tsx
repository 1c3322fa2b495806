import type { UiDone } from "@resource-broker/contract/dashboard";
import { type ReactNode, type SubmitEvent, useEffect, useId, useRef, useState } from "react";
import { sentence } from "../format/sentence.ts";
import { useAppDeps, useLiveStatus, useSession } from "../shell/app-deps.ts";
import { useToast } from "../shell/toasts.tsx";
import { focusHeading } from "./page.tsx";
import "./button.css";
import "./confirm.css";
import "./controls.css";

interface ActionProps {
  /** On the button, and on the one that confirms: a verb. */
  readonly verb: string;
  readonly title: string;
  /** What will happen, to whom, and whether it can be taken back. */
  readonly children: ReactNode;
  readonly path: string;
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
  const toast = useToast();
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
      const body = action.asksReason === true && reason !== "" ? { reason } : undefined;
      const { message } = await api.post<UiDone>(action.path, body);
      toast(message);
      action.onDone();
      dialog.current?.close();
      // The button that opened the dialog may no longer exist.
      focusHeading();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
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
