import { Bar, Legend } from "../charts/bar.tsx";
import { plainNumber } from "../format/amounts.ts";
import { localized } from "../format/sentence.ts";
import { Chip } from "../parts/chips.tsx";
import { Link } from "../parts/link.tsx";
import { Card } from "../parts/page.tsx";
import { type Column, None, Table } from "../parts/table.tsx";
import { hrefTo } from "../shell/navigation.ts";
import type { CandidateView, DecisionView, RefusedView } from "./decision-view.ts";
import "./ranking.css";

const FITTED: readonly Column<CandidateView>[] = [
  { title: "Rank", isNumber: true, cell: ({ rank }) => rank },
  {
    title: "Cluster",
    isHead: true,
    className: "cell-main",
    cell: ({ id, isWinner }) => (
      <>
        {clusterLink(id)}
        {isWinner && <Chip tone="good">Winner</Chip>}
      </>
    ),
  },
  { title: "Score", isNumber: true, className: "strong", cell: ({ score }) => score },
  {
    title: "Parts of the score",
    className: "cell-parts",
    cell: ({ description, parts, partsText }) => (
      <>
        <Bar
          label={description}
          fills={parts.map(({ share }, index) => ({ name: partClass(index), share }))}
        />
        <span className="note num" aria-hidden="true">
          {partsText}
        </span>
      </>
    ),
  },
  { title: "Price per hour", isNumber: true, cell: ({ price }) => price ?? <None>not priced</None> },
  { title: "Could lend", className: "num", cell: ({ room }) => room },
];

const REFUSED: readonly Column<RefusedView>[] = [
  { title: "Cluster", className: "cell-main", cell: ({ id }) => clusterLink(id) },
  { title: "Reason", cell: ({ reason }) => reason },
  {
    title: "In words",
    cell: ({ message, also }) => (
      <>
        {localized(message)}
        {also !== "" && <None> · also: {also}</None>}
      </>
    ),
  },
];

const MISSING: Column<RefusedView> = {
  title: "Missing",
  className: "num",
  cell: ({ missing }) => missing || <None />,
};

function clusterLink(id: string) {
  return (
    <Link to={hrefTo("fleet", id)} className="row-link">
      {id}
    </Link>
  );
}

function partClass(index: number): string {
  return `part-${index % 4}`;
}

/** Shows a decision or a quote. */
export function Ranking({ view }: { readonly view: DecisionView }) {
  const { fitted, refused, left, flip } = view;
  const weights = view.scorers.map(({ name, weight }, index) => ({
    name: partClass(index),
    title: name,
    value: weight,
  }));
  const isShort = refused.some(({ missing }) => missing !== "");
  return (
    <div className="stack">
      {flip !== null && (
        <p className="flip">
          <strong>What would change the result</strong> {localized(flip)}
        </p>
      )}
      {fitted.length > 0 && (
        <Card title={`Fitted (${fitted.length})`} note={<Legend label="Weights" items={weights} />}>
          <Table
            caption="Clusters that fitted, best first"
            columns={FITTED}
            rows={fitted}
            keyOf={({ id }) => id}
            rowClass={({ isWinner }) => (isWinner ? "is-winner" : undefined)}
            className="is-ranking"
          />
        </Card>
      )}
      {refused.length > 0 && (
        <Card
          title={`Passed over (${plainNumber(view.passedOver)})`}
          note={<span className="num">{view.counts.join(" · ")}</span>}
        >
          <Table
            caption="Clusters that were passed over"
            columns={isShort ? [...REFUSED, MISSING] : REFUSED}
            rows={refused}
            keyOf={({ id }) => id}
            className="is-refused"
          />
        </Card>
      )}
      {left > 0 && (
        <p className="note">{plainNumber(left)} more clusters were considered; the closest are shown.</p>
      )}
    </div>
  );
}
