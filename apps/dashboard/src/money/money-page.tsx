import type { UiMoneyReport } from "@resource-broker/contract/dashboard";
import { readWindow, WINDOWS } from "../capacity/capacity-page.tsx";
import { Bar } from "../charts/bar.tsx";
import type { RefreshPolicy } from "../live/live-answer.ts";
import { withQuery } from "../net/query.ts";
import { RadioGroup } from "../parts/controls.tsx";
import { Link } from "../parts/link.tsx";
import { Card, Page } from "../parts/page.tsx";
import { AnswerView, Empty } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { Total } from "../parts/total.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { useQuery } from "../shell/use-query.ts";
import "./money.css";
import { type MoneyView, moneyView, type SpendView } from "./money-view.ts";

const REFRESH: RefreshPolicy<UiMoneyReport> = {
  isAffectedBy: ({ reservations }) => reservations.length > 0,
  minIntervalMs: 2000,
  pollMs: 15_000,
};

export function MoneyPage() {
  const { query, change } = useQuery();
  const window = readWindow(query);
  const answer = useAnswer<UiMoneyReport>(`/ui/money?window=${window}`, REFRESH);
  return (
    <Page title="Money" lead="What was spent for capacity in other clusters, and what the choice saved.">
      <div className="toolbar">
        <RadioGroup
          label="Time"
          value={window}
          options={WINDOWS}
          onChoose={(name) => change({ window: name === "hour" ? null : name })}
        />
      </div>
      <AnswerView answer={answer}>{(report) => <Report view={moneyView(report)} />}</AnswerView>
    </Page>
  );
}

function Report({ view }: { readonly view: MoneyView }) {
  return (
    <div className="stack">
      <section className="totals is-money" aria-label="Totals">
        <Total title="Spent" value={view.spent} note="for the time that was held" />
        <Total title="Saved" value={view.saved} note={view.savedNote} />
      </section>
      {view.unpriced !== null && <p className="note">{view.unpriced}</p>}
      {view.isEmpty ? (
        <Empty title="Nothing was spent" icon="money">
          Reservations on clusters with a price are counted here, for the time they hold.
        </Empty>
      ) : (
        <div className="columns is-even">
          <Spends title="By requester" role="requester" rows={view.byRequester} />
          <Spends title="By provider" role="provider" rows={view.byProvider} />
        </div>
      )}
    </div>
  );
}

const COLUMNS = [
  { title: "Cluster" },
  { title: "Spent" },
  { title: "Amount", isNumber: true },
  { title: "Saved", isNumber: true },
  { title: "For", isNumber: true },
];

interface SpendsProps {
  readonly title: string;
  readonly role: "requester" | "provider";
  readonly rows: readonly SpendView[];
}

function Spends({ title, role, rows }: SpendsProps) {
  return (
    <Card title={title}>
      <Table caption={`Spent ${title.toLowerCase()}`} columns={COLUMNS} className="is-money">
        {rows.map(({ id, spent, saved, reservations, share }) => (
          <tr key={id}>
            <th scope="row" className="cell-main">
              <Link to={withQuery("/reservations", { [role]: id })} className="row-link">
                {id}
              </Link>
            </th>
            <td className="cell-spend">
              <Bar label={`${spent} spent`} fills={[{ name: role, share }]} />
            </td>
            <td data-label="Amount" className="num is-number strong">
              {spent}
            </td>
            <td data-label="Saved" className="num is-number">
              {saved}
            </td>
            <td data-label="For" className="num is-number">
              {reservations}
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}
