import { PATH, type SpendingDTO } from "@resource-broker/contract";
import { readWindow, WindowPicker } from "../capacity/capacity-page.tsx";
import { Bar } from "../charts/bar.tsx";
import { count, percent } from "../format/amounts.ts";
import { digitsFor, moneyText } from "../format/money.ts";
import type { RefreshPolicy } from "../live/live-answer.ts";
import { Link } from "../parts/link.tsx";
import { Card, Page, Total } from "../parts/page.tsx";
import { AnswerView, Empty } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { useQuery, withQuery } from "../shell/navigation.ts";
import "./money.css";

const REFRESH: RefreshPolicy<SpendingDTO> = {
  isAffectedBy: ({ reservations }) => reservations.length > 0,
  minIntervalMs: 2000,
  pollMs: 15_000,
};

export function MoneyPage() {
  const { query } = useQuery();
  const path = withQuery(PATH.spending, { window: readWindow(query) });
  const answer = useAnswer<SpendingDTO>(path, REFRESH);
  return (
    <Page title="Money" lead="What was spent for capacity in other clusters, and what the choice saved.">
      <div className="toolbar">
        <WindowPicker />
      </div>
      <AnswerView answer={answer}>{(report) => <Report report={report} />}</AnswerView>
    </Page>
  );
}

function Report({ report }: { readonly report: SpendingDTO }) {
  const { currency, spent, saved, unpriced, byRequester, byProvider } = report;
  return (
    <div className="stack">
      <section className="totals is-money" aria-label="Totals">
        <Total title="Spent" value={moneyText(spent, currency)} note="for the time that was held" />
        <Total title="Saved" value={moneyText(saved, currency)} note={savedNote(report)} />
      </section>
      {unpriced > 0 && <p className="note">{count(unpriced, "reservation")} without a price not counted</p>}
      {byRequester.length + byProvider.length === 0 ? (
        <Empty title="Nothing was spent" icon="money">
          Reservations on clusters with a price are counted here, for the time they hold.
        </Empty>
      ) : (
        <div className="columns is-even">
          <Spends title="By requester" role="requester" rows={byRequester} currency={currency} />
          <Spends title="By provider" role="provider" rows={byProvider} currency={currency} />
        </div>
      )}
    </div>
  );
}

/** "12 % less than at the mean price". */
export function savedNote({ spent, saved }: Pick<SpendingDTO, "spent" | "saved">): string {
  const mean = spent + saved;
  if (mean <= 0) return "nothing to compare yet";
  const share = saved / mean;
  if (Math.abs(share) < 0.0005) return "as much as at the mean price";
  return `${percent(Math.abs(share))} ${share > 0 ? "less" : "more"} than at the mean price`;
}

interface SpendsProps {
  readonly title: string;
  readonly role: "requester" | "provider";
  readonly rows: SpendingDTO["byRequester"];
  readonly currency: string;
}

function Spends({ title, role, rows, currency }: SpendsProps) {
  const biggest = Math.max(0, ...rows.map(({ spent }) => spent));
  const text = (amount: number): string => moneyText(amount, currency, digitsFor(biggest));
  return (
    <Card title={title}>
      <Table
        caption={`Spent ${title.toLowerCase()}`}
        className="is-money"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          {
            title: "Cluster",
            className: "cell-main",
            cell: ({ id }) => (
              <Link to={withQuery("/reservations", { [role]: id })} className="row-link">
                {id}
              </Link>
            ),
          },
          {
            title: "Spent",
            className: "cell-spend",
            cell: ({ spent }) => (
              <Bar
                label={`${text(spent)} spent`}
                fills={[{ name: role, share: biggest === 0 ? 0 : spent / biggest }]}
              />
            ),
          },
          { title: "Amount", isNumber: true, className: "strong", cell: ({ spent }) => text(spent) },
          { title: "Saved", isNumber: true, cell: ({ saved }) => text(saved) },
          {
            title: "For",
            isNumber: true,
            cell: ({ reservations }) => count(reservations, "reservation"),
          },
        ]}
      />
    </Card>
  );
}
