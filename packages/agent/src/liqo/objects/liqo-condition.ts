/** Liqo's conditions are not Kubernetes conditions: each kind has its own status values. */
export interface LiqoCondition<Type extends string, Status extends string> {
  readonly type: Type;
  readonly status: Status;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}
