/**
 * To be imported before a program: its wall clock is off by CLOCK_SHIFT_MS. TLS is done by OpenSSL, which asks the
 * operating system: certificates are judged by the right time all the same.
 */
const SHIFT_MS = Number(process.env["CLOCK_SHIFT_MS"] ?? "0");
const rightMs = (): number => performance.timeOrigin + performance.now();

globalThis.Date = new Proxy(Date, {
  construct: (target, values: readonly unknown[], newTarget) =>
    Reflect.construct(
      target,
      values.length === 0 ? [Math.floor(rightMs() + SHIFT_MS)] : values,
      newTarget,
    ) as object,
  get: (target, name, receiver) =>
    name === "now"
      ? () => Math.floor(rightMs() + SHIFT_MS)
      : (Reflect.get(target, name, receiver) as unknown),
});
