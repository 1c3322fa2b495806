/** New calls earn retries and retries spend them: in a long outage retries add at most a tenth to the load. */
export interface RetryBudget {
  readonly earn: () => void;
  /** False: nothing left, give up. */
  readonly spend: () => boolean;
}

const EARNED_PER_CALL = 0.1;
const MAX_TOKENS = 10;

export function createRetryBudget(): RetryBudget {
  let tokens = MAX_TOKENS;
  return {
    earn: () => {
      tokens = Math.min(MAX_TOKENS, tokens + EARNED_PER_CALL);
    },
    spend: () => {
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
