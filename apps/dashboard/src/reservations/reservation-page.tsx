import type { UiParty, UiReservationDetail } from "@resource-broker/contract/dashboard";
import { Bar } from "../charts/bar.tsx";
import { amountsText } from "../format/amounts.ts";
import { moneyText } from "../format/money.ts";
import { localized } from "../format/sentence.ts";
import type { RefreshPolicy } from "../live/live-answer.ts";
import { Chip } from "../parts/chips.tsx";
import { CodeCard, Command } from "../parts/code.tsx";
import { Action } from "../parts/confirm.tsx";
import { Facts } from "../parts/facts.tsx";
import { Icon, type IconName } from "../parts/icons.tsx";
import { Link } from "../parts/link.tsx";
import { Card, Page } from "../parts/page.tsx";
import { Countdown, TimeAgo } from "../parts/relative-time.tsx";
import { AnswerView } from "../parts/states.tsx";
import { hrefTo } from "../routing/route.ts";
import { useAnswer } from "../shell/app-deps.ts";
import "./reservation.css";
import { Phase } from "./reservation-row.tsx";
import {
  costText,
  isLive,
  reasonText,
  type StepState,
  timelineView,
  usageViews,
} from "./reservation-view.ts";
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

function Timeline({ reservation }: { readonly reservation: UiReservationDetail }) {
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

export function ReservationPage({ id }: { readonly id: string }) {
  const policy: RefreshPolicy<UiReservationDetail> = {
    isAffectedBy: ({ reservations }) => reservations.some((each) => each.id === id),
    patch: (detail, { reservations }) => ({ ...detail, ...reservations.find((each) => each.id === id) }),
    // What it has cost so far, and what its pods use.
    pollMs: 10_000,
  };
  const answer = useAnswer<UiReservationDetail>(`/ui/reservations/${encodeURIComponent(id)}`, policy);
  const found = answer.data;
  return (
    <Page
      title={id}
      trail={<Link to="/reservations">Reservations</Link>}
      lead={found === undefined ? "Reservation" : localized(found.message)}
      actions={found !== undefined && <Actions reservation={found} onDone={answer.reload} />}
    >
      <AnswerView answer={answer}>{(reservation) => <Details reservation={reservation} />}</AnswerView>
    </Page>
  );
}

interface ActionsProps {
  readonly reservation: UiReservationDetail;
  readonly onDone: () => void;
}

function Actions({ reservation, onDone }: ActionsProps) {
  const { id, decisionID, provider, requester, amounts } = reservation;
  return (
    <>
      {decisionID !== null && (
        <Link to={hrefTo("decisions", decisionID)} className="button">
          Why {provider === "" ? "was it refused" : provider}?
        </Link>
      )}
      {isLive(reservation) && (
        <Action
          verb="Release"
          title="Release this reservation?"
          path={`/ui/reservations/${encodeURIComponent(id)}/release`}
          isDangerous
          onDone={onDone}
        >
          <p>
            <strong>{requester}</strong> loses the virtual node on <strong>{provider}</strong>, and with it
            the pods that run there. {amountsText(amounts)} return to <strong>{provider}</strong> as soon as
            those pods are gone.
          </p>
          <p>This cannot be undone. {requester} may request again.</p>
        </Action>
      )}
    </>
  );
}

function Details({ reservation }: { readonly reservation: UiReservationDetail }) {
  const { parties, yaml, commands } = reservation;
  return (
    <div className="stack">
      <Card title="Timeline" note={<Phase reservation={reservation} />}>
        <Timeline reservation={reservation} />
      </Card>
      <div className="columns">
        <Card title="Held">
          <Use reservation={reservation} />
          <ReservationFacts reservation={reservation} />
        </Card>
        <Card title="Parties">
          <div className="parties">
            <Party role="Requester" party={parties.requester} />
            <span className="parties-arrow">
              <Icon name="arrow" />
            </span>
            <Party role="Provider" party={parties.provider} />
          </div>
        </Card>
      </div>
      <Card title="Commands">
        <ul className="commands">
          {commands.map(({ title, line }) => (
            <li key={line}>
              <span className="note">{title}</span>
              <Command line={line} what={title} />
            </li>
          ))}
        </ul>
      </Card>
      <CodeCard title="Object" text={yaml} label="The object as YAML" />
    </div>
  );
}

function Use({ reservation }: { readonly reservation: UiReservationDetail }) {
  return (
    <div className="bar-list">
      {usageViews(reservation.amounts, reservation.used).map(({ title, text, share }) => (
        <div key={title} className="bar-row">
          <span>{title}</span>
          <span className="bar-box is-large">
            <Bar
              label={text}
              fills={[{ name: "used", share: Math.min(1, share ?? 0) }]}
              isOver={share !== null && share > 1}
            />
            <span className="bar-text num">{text}</span>
          </span>
        </div>
      ))}
    </div>
  );
}

function ReservationFacts({ reservation }: { readonly reservation: UiReservationDetail }) {
  const { costSoFar, expiresAt, endedAt, priority, reason, createdAt } = reservation;
  return (
    <Facts
      facts={[
        ["Cost so far", costSoFar === null ? "not priced" : moneyText(costSoFar.amount, costSoFar.currency)],
        ["Per hour", costText(reservation) ?? ""],
        ["Created", <TimeAgo key="created" at={createdAt} />],
        [
          "Ends in",
          endedAt !== null ? "" : expiresAt === null ? "until released" : <Countdown until={expiresAt} />,
        ],
        ["Ended", endedAt === null ? "" : <TimeAgo key="ended" at={endedAt} />],
        ["Reason", reasonText(reason)],
        ["Priority", priority === 0 ? "" : String(priority)],
      ]}
    />
  );
}

function Party({ role, party }: { readonly role: string; readonly party: UiParty }) {
  return (
    <div className="party">
      <span className="note">{role}</span>
      {party.id === "" ? (
        <span className="faint">none</span>
      ) : (
        <Link to={hrefTo("fleet", party.id)} className="party-name">
          {party.id}
        </Link>
      )}
      <span>{party.state}</span>
      <span className="note">
        {party.heardAt === null ? (
          "no advertisement"
        ) : (
          <>
            heard <TimeAgo at={party.heardAt} />
          </>
        )}
      </span>
      {party.isStale && (
        <Chip tone="warn" icon="clock">
          Stale
        </Chip>
      )}
    </div>
  );
}
