import type { ReactNode } from "react";
import { plainNumber } from "../format/amounts.ts";
import { Icon } from "./icons.tsx";
import "./button.css";
import "./table.css";

export interface Column {
  readonly title: string;
  /** Absent: not sortable. */
  readonly sort?: string;
  /** Numbers stand at the right. */
  readonly isNumber?: boolean;
}

export interface Sorting {
  readonly sort: string;
  readonly order: "asc" | "desc";
}

interface TableProps {
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly sorting?: Sorting;
  readonly onSort?: (sorting: Sorting) => void;
  readonly children: ReactNode;
  readonly className?: string;
}

export function Table({ caption, columns, sorting, onSort, children, className = "" }: TableProps) {
  return (
    <div className="table-box">
      <table className={`table ${className}`}>
        <caption className="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.title} column={column} sorting={sorting} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

interface HeadingProps {
  readonly column: Column;
  readonly sorting: Sorting | undefined;
  readonly onSort: ((sorting: Sorting) => void) | undefined;
}

function Heading({ column, sorting, onSort }: HeadingProps) {
  const { title, sort, isNumber } = column;
  const className = isNumber === true ? "is-number" : undefined;
  if (sort === undefined || onSort === undefined) {
    return (
      <th scope="col" className={className}>
        {title}
      </th>
    );
  }
  const order = sorting?.sort === sort ? sorting.order : undefined;
  const next = order === "asc" ? "desc" : "asc";
  return (
    <th scope="col" className={className} aria-sort={ariaSort(order)}>
      <button type="button" className="sort" onClick={() => onSort({ sort, order: next })}>
        {title}
        <span className="sort-sign" aria-hidden="true">
          {order === undefined ? "" : order === "asc" ? "↑" : "↓"}
        </span>
      </button>
    </th>
  );
}

function ariaSort(order: "asc" | "desc" | undefined): "ascending" | "descending" | "none" {
  if (order === undefined) return "none";
  return order === "asc" ? "ascending" : "descending";
}

interface PagerProps {
  readonly offset: number;
  readonly shown: number;
  readonly total: number;
  readonly limit: number;
  readonly onMove: (offset: number) => void;
}

export function Pager({ offset, shown, total, limit, onMove }: PagerProps) {
  return (
    <nav className="pager" aria-label="Pages">
      <span className="num">
        {shown === 0 ? "0" : `${plainNumber(offset + 1)}–${plainNumber(offset + shown)}`} of{" "}
        {plainNumber(total)}
      </span>
      <button
        type="button"
        className="button is-small"
        disabled={offset === 0}
        onClick={() => onMove(Math.max(0, offset - limit))}
      >
        <Icon name="back" size={14} /> Previous
      </button>
      <button
        type="button"
        className="button is-small"
        disabled={offset + shown >= total}
        onClick={() => onMove(offset + limit)}
      >
        Next <Icon name="arrow" size={14} />
      </button>
    </nav>
  );
}
