import { memo, type ReactNode } from "react";
import "./button.css";
import "./table.css";

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Absent: not sortable. */
  readonly sort?: string;
  /** Numbers stand at the right. */
  readonly isNumber?: boolean;
  /** The cell that names its row; otherwise the first one does. */
  readonly isHead?: boolean;
  readonly className?: string;
}

export interface Sorting {
  readonly sort: string;
  readonly order: "asc" | "desc";
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  readonly rowClass?: (row: Row) => string | undefined;
  readonly sorting?: Sorting | undefined;
  readonly onSort?: (sorting: Sorting) => void;
  readonly className?: string;
}

export function Table<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, keyOf, rowClass, sorting, onSort, className = "" } = props;
  return (
    <div className="table-box">
      <table className={`table ${className}`}>
        <caption className="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, sort, isNumber }) => (
              <Heading
                key={title}
                {...{ title, sort, sorting, onSort }}
                className={isNumber === true ? "is-number" : undefined}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <MemoRow key={keyOf(row)} row={row} columns={columns} className={rowClass?.(row)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly className: string | undefined;
}

function TableRow<Row>({ row, columns, className }: RowProps<Row>) {
  const head = columns.find(({ isHead }) => isHead) ?? columns[0];
  return (
    <tr className={className}>
      {columns.map((column) => {
        const look = `${column.isNumber === true ? "num is-number" : ""} ${column.className ?? ""}`.trim();
        return column === head ? (
          <th key={column.title} scope="row" className={look}>
            {column.cell(row)}
          </th>
        ) : (
          <td key={column.title} data-label={column.title} className={look}>
            {column.cell(row)}
          </td>
        );
      })}
    </tr>
  );
}

/** Most rows of a list stay the same object when it is read again; those are not drawn again. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- memo forgets that the component is generic
const MemoRow = memo(TableRow) as unknown as typeof TableRow;

interface HeadingProps {
  readonly title: string;
  readonly sort: string | undefined;
  readonly className: string | undefined;
  readonly sorting: Sorting | undefined;
  readonly onSort: ((sorting: Sorting) => void) | undefined;
}

const SIGNS = {
  none: { sign: "", aria: "none" },
  asc: { sign: "↑", aria: "ascending" },
  desc: { sign: "↓", aria: "descending" },
} as const;

function Heading({ title, sort, className, sorting, onSort }: HeadingProps) {
  if (sort === undefined || onSort === undefined) {
    return (
      <th scope="col" className={className}>
        {title}
      </th>
    );
  }
  const order = sorting?.sort === sort ? sorting.order : "none";
  return (
    <th scope="col" className={className} aria-sort={SIGNS[order].aria}>
      <button
        type="button"
        className="sort"
        onClick={() => onSort({ sort, order: order === "asc" ? "desc" : "asc" })}
      >
        {title}
        <span className="sort-sign" aria-hidden="true">
          {SIGNS[order].sign}
        </span>
      </button>
    </th>
  );
}

/** Stands for what is not there. */
export function None({ children = "–" }: { readonly children?: ReactNode }) {
  return <span className="faint">{children}</span>;
}
