import { createContext, type ReactNode, useCallback, useContext, useState } from "react";
import { Icon } from "../parts/icons.tsx";
import { useAppDeps } from "./app-deps.ts";
import "./toasts.css";

const SHOWN_MS = 6000;

const ToastContext = createContext<(text: string) => void>(() => undefined);

export function useToast(): (text: string) => void {
  return useContext(ToastContext);
}

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
