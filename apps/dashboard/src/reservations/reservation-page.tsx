import type { UiParty, UiReservationDetail } from "@resource-broker/contract";
import { amountsText } from "../format/amounts.ts";
import { moneyText } from "../format/money.ts";
import type { Freshness } from "../live/live-answer.ts";
import { Chip } from "../parts/chips.tsx";
import { Action } from "../parts/confirm.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { Facts } from "../parts/facts.tsx";
import { Icon } from "../parts/icons.tsx";
import { Link } from "../parts/link.tsx";
import { Ago, Countdown } from "../parts/moment.tsx";
import { Card, Page } from "../parts/page.tsx";
import { AnswerView } from "../parts/states.tsx";
import { hrefTo } from "../routing/route.ts";
import { useAnswer } from "../shell/session-context.ts";
import { Phase } from "./reservation-row.tsx";
import { costText, isLive, reasonText, useOf } from "./reservation-view.ts";
import { Timeline } from "./timeline.tsx";

export function ReservationPage({ id }: { readonly id: string }) {
  const freshness: Freshness<UiReservationDetail> = {
    concerns: ({ reservations }) => reservations.some((each) => each.id === id),
    patch: (detail, { reservations }) => ({ ...detail, ...reservations.find((each) => each.id === id) }),
    // What it has cost so far, and what its pods use.
    everyMs: 10_000,
  };
  const answer = useAnswer<UiReservationDetail>(`/ui/reservations/${encodeURIComponent(id)}`, freshness);
  const found = answer.data;
  return (
    <Page
      title={id}
      trail={<Link to="/reservations">Reservations</Link>}
      lead={found?.message ?? "Reservation"}
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
          <p>This cannot be taken back. {requester} may ask again.</p>
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
          <Figures reservation={reservation} />
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
              <div className="command">
                <code tabIndex={0}>{line}</code>
                <CopyButton text={line} what={title} />
              </div>
            </li>
          ))}
        </ul>
      </Card>
      <Card title="Object" note={<CopyButton text={yaml} what="the object as YAML" />}>
        <pre className="yaml" tabIndex={0} aria-label="The object as YAML">
          {yaml}
        </pre>
      </Card>
    </div>
  );
}

function Use({ reservation }: { readonly reservation: UiReservationDetail }) {
  return (
    <div className="bar-list">
      {useOf(reservation.amounts, reservation.used).map(({ title, text, share }) => (
        <div key={title} className="bar-row">
          <span>{title}</span>
          <span className="bar-box is-large">
            <span
              className={share !== null && share > 1 ? "bar is-over" : "bar"}
              role="img"
              aria-label={text}
            >
              <span className="fill is-used" style={{ inlineSize: `${Math.min(1, share ?? 0) * 100}%` }} />
            </span>
            <span className="bar-text num">{text}</span>
          </span>
        </div>
      ))}
    </div>
  );
}

function Figures({ reservation }: { readonly reservation: UiReservationDetail }) {
  const { costSoFar, expiresAt, endedAt, priority, reason, createdAt } = reservation;
  return (
    <Facts
      facts={[
        ["Cost so far", costSoFar === null ? "not priced" : moneyText(costSoFar.amount, costSoFar.currency)],
        ["Per hour", costText(reservation) ?? ""],
        ["Created", <Ago key="created" at={createdAt} />],
        [
          "Ends in",
          endedAt !== null ? "" : expiresAt === null ? "until released" : <Countdown until={expiresAt} />,
        ],
        ["Ended", endedAt === null ? "" : <Ago key="ended" at={endedAt} />],
        ["Reason", reasonText(reason)],
        ["Priority", String(priority)],
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
          "never heard"
        ) : (
          <>
            heard <Ago at={party.heardAt} />
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
