import { Select } from "./controls.tsx";
import type { Column, Sorting } from "./table.tsx";

interface SortSelectProps {
  readonly columns: readonly Column[];
  readonly sorting: Sorting;
  readonly onSort: (sorting: Sorting) => void;
}

/** Sorting where a table has no heads to click on. */
export function SortSelect({ columns, sorting, onSort }: SortSelectProps) {
  const options = columns.flatMap(({ title, sort }) => (sort === undefined ? [] : [{ name: sort, title }]));
  const isRising = sorting.order === "asc";
  return (
    <span className="only-narrow">
      <Select
        label="Sort by"
        value={sorting.sort}
        options={options}
        onChoose={(sort) => onSort({ ...sorting, sort })}
      />
      <button
        type="button"
        className="button"
        onClick={() => onSort({ ...sorting, order: isRising ? "desc" : "asc" })}
      >
        {isRising ? "↑ Rising" : "↓ Falling"}
      </button>
    </span>
  );
}
