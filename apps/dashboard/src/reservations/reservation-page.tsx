import { PATH, type ReservationDTO, type SessionDTO, type TimelineDTO } from "@resource-broker/contract";
import { Bar } from "../charts/bar.tsx";
import { amountsOf, amountsText } from "../format/amounts.ts";
import { moneyText } from "../format/money.ts";
import { localized } from "../format/sentence.ts";
import type { RefreshPolicy } from "../live/live-answer.ts";
import { Chip } from "../parts/chips.tsx";
import { CodeCard, Command } from "../parts/code.tsx";
import { Action } from "../parts/confirm.tsx";
import { Icon, type IconName } from "../parts/icons.tsx";
import { Link } from "../parts/link.tsx";
import { Card, Facts, Page } from "../parts/page.tsx";
import { Countdown, TimeAgo } from "../parts/relative-time.tsx";
import { AnswerView } from "../parts/states.tsx";
import { RequestPage } from "../requests/request-page.tsx";
import { hrefTo } from "../shell/navigation.ts";
import { useAnswer, useSession } from "../shell/app-deps.ts";
import { NoticeTime } from "./preempting.tsx";
import "./reservation.css";
import {
  costText,
  endsAt,
  isLive,
  reasonText,
  type StepState,
  timelineView,
  usageViews,
} from "./reservation-view.ts";
import { Phase } from "./reservations-page.tsx";
import "./timeline.css";

const STATES: Readonly<Record<StepState, { readonly sign?: IconName; readonly words: string }>> = {
  done: { sign: "check", words: "done" },
  current: { sign: "clock", words: "in progress" },
  waiting: { words: "not yet" },
  skipped: { sign: "close", words: "never reached" },
};

function Timeline({ timeline }: { readonly timeline: TimelineDTO }) {
  return (
    <ol className="timeline">
      {timelineView(timeline).map(({ step, state, at, since, text }) => {
        const { sign, words } = STATES[state];
        return (
          <li key={step} className={`step is-${state}`}>
            <span className="step-dot">{sign !== undefined && <Icon name={sign} size={12} />}</span>
            <span className="step-name">
              {step}
              <span className="hidden"> ({words})</span>
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
  const policy: RefreshPolicy<TimelineDTO> = {
    isAffectedBy: ({ reservations }) => reservations.some((each) => each.id === id),
    patch: (timeline, { reservations }) => ({
      ...timeline,
      reservation: reservations.find((each) => each.id === id) ?? timeline.reservation,
    }),
    // What it has cost so far, and what its pods use.
    pollMs: 10_000,
  };
  const answer = useAnswer<TimelineDTO>(PATH.timeline(id), policy);
  const found = answer.data?.reservation;
  // A request that waits has the ID that its reservation will have.
  if (answer.failure?.status === 404) return <RequestPage id={id} />;
  return (
    <Page
      title={id}
      trail={<Link to="/reservations">Reservations</Link>}
      lead={found === undefined ? "Reservation" : localized(found.status.message)}
      actions={found !== undefined && <Actions reservation={found} onDone={answer.reload} />}
    >
      <AnswerView answer={answer}>{(timeline) => <Details timeline={timeline} />}</AnswerView>
    </Page>
  );
}

interface ActionsProps {
  readonly reservation: ReservationDTO;
  readonly onDone: () => void;
}

function Actions({ reservation, onDone }: ActionsProps) {
  const { id, decisionID, targetClusterID: provider, requesterID: requester } = reservation;
  const amounts = amountsText(amountsOf(reservation.requestedResources));
  return (
    <>
      {decisionID !== undefined && (
        <Link to={hrefTo("decisions", decisionID)} className="button">
          Why {provider}?
        </Link>
      )}
      {isLive(reservation) && (
        <Action
          verb="Release"
          title="Release this reservation?"
          perform={(api) => api.remove(PATH.reservation(id))}
          doneText={`${id} is released: ${provider} gets ${amounts} back when the pods of the reservation have ended.`}
          isDangerous
          onDone={onDone}
        >
          <p>
            <strong>{requester}</strong> loses the virtual node on <strong>{provider}</strong>, and with it
            the pods that run there. {amounts} return to <strong>{provider}</strong> as soon as those pods are
            gone.
          </p>
          <p>This cannot be undone. {requester} may request again.</p>
        </Action>
      )}
    </>
  );
}

function Details({ timeline }: { readonly timeline: TimelineDTO }) {
  const { reservation, requester, provider, object } = timeline;
  const session = useSession();
  return (
    <div className="stack">
      {reservation.preempting !== undefined && (
        <p className="notice is-warn">
          <Icon name="warning" />
          <span>
            Preempting: it ends in <NoticeTime notice={reservation.preempting} />. It cannot be renewed.
          </span>
        </p>
      )}
      <Card title="Timeline" note={<Phase reservation={reservation} />}>
        <Timeline timeline={timeline} />
      </Card>
      <div className="columns">
        <Card title="Held">
          <Use timeline={timeline} />
          <ReservationFacts timeline={timeline} />
        </Card>
        <Card title="Parties">
          <div className="parties">
            <Party role="Requester" party={requester} />
            <span className="parties-arrow">
              <Icon name="arrow" />
            </span>
            <Party role="Provider" party={provider} />
          </div>
        </Card>
      </div>
      <Card title="Commands">
        <ul className="commands">
          {commandsFor(reservation, session).map(({ title, line }) => (
            <li key={line}>
              <span className="note">{title}</span>
              <Command line={line} what={title} />
            </li>
          ))}
        </ul>
      </Card>
      <CodeCard title="Object" text={object} label="The object as YAML" />
    </div>
  );
}

function Use({ timeline: { reservation, used } }: { readonly timeline: TimelineDTO }) {
  return (
    <div className="bar-list">
      {usageViews(amountsOf(reservation.requestedResources), used).map(({ title, text, share }) => (
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

function costSoFarText({ reservation: { cost }, costSoFar }: TimelineDTO): string {
  return costSoFar === undefined ? "not priced" : moneyText(costSoFar, cost?.currency ?? "");
}

function ReservationFacts({ timeline }: { readonly timeline: TimelineDTO }) {
  const { reservation } = timeline;
  const { endedAt, priority = 0, reason, createdAt, tenant = "" } = reservation;
  const until = endsAt(reservation);
  const left = until === undefined ? "until released" : <Countdown until={until} />;
  return (
    <Facts
      facts={[
        ["Cost so far", costSoFarText(timeline)],
        ["Per hour", costText(reservation) ?? ""],
        ["Created", <TimeAgo key="created" at={createdAt} />],
        ["Ends in", endedAt === undefined ? left : ""],
        ["Ended", endedAt === undefined ? "" : <TimeAgo key="ended" at={endedAt} />],
        ["Reason", reasonText(reason)],
        ["Tenant", tenant],
        ["Priority", priority === 0 ? "" : String(priority)],
      ]}
    />
  );
}

function Party({ role, party }: { readonly role: string; readonly party: TimelineDTO["provider"] }) {
  return (
    <div className="party">
      <span className="note">{role}</span>
      <Link to={hrefTo("fleet", party.id)} className="party-name">
        {party.id}
      </Link>
      <span>{party.state}</span>
      <span className="note">
        {party.receivedAt === undefined ? (
          "no advertisement"
        ) : (
          <>
            heard <TimeAgo at={party.receivedAt} />
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

interface CommandLine {
  readonly title: string;
  readonly line: string;
}

/** Exact command lines to look at it and to end it, where they would work. */
function commandsFor(reservation: ReservationDTO, { apiURL, objectsNamespace }: SessionDTO): CommandLine[] {
  const { id, decisionID } = reservation;
  const brokerctl = (title: string, words: string): CommandLine[] =>
    apiURL === null ? [] : [{ title, line: `brokerctl ${words} ${id} --broker ${apiURL}` }];
  const kubectl = (title: string, words: string): CommandLine[] =>
    objectsNamespace === null ? [] : [{ title, line: `kubectl --namespace ${objectsNamespace} ${words}` }];
  return [
    ...brokerctl("Look at it", "describe reservation"),
    ...kubectl("Look at its object", `get reservations.broker.fluidos.eu ${id} --output yaml`),
    ...(decisionID === undefined ? [] : brokerctl("Why it went there", "explain")),
    ...(isLive(reservation) ? brokerctl("End it", "release") : []),
  ];
}
