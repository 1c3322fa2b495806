const PATHS = {
  fleet: "M3 4.5h14v4H3zM3 11.5h14v4H3zM6 6.5h.01M6 13.5h.01",
  flows: "M3 5h4c4 0 4 10 8 10h2M3 15h4c4 0 4-10 8-10h2M15 3l2 2-2 2M15 13l2 2-2 2",
  reservations: "M4 3.5h12v13H4zM7 7h6M7 10h6M7 13h3",
  requests: "M3 5h9M3 10h6M3 15h4M14.5 17a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM14.5 11.8v1.7l1.2.9",
  decisions: "M10 3v4M10 7 4.5 12.5M10 7l5.5 5.5M4.5 12.5v4M15.5 12.5v4M2.5 16.5h4M13.5 16.5h4",
  "what-if": "M7 7.5a3 3 0 1 1 4.4 2.6c-.9.5-1.4 1.1-1.4 2.1M10 15.5h.01",
  capacity: "M3 16.5h14M3 13l4-4 3 2.5L17 5",
  money:
    "M10 2.5v15M13.8 6c-.6-1-2-1.6-3.8-1.6-2.2 0-3.8 1-3.8 2.7 0 4 7.8 1.8 7.8 5.8 0 1.8-1.8 2.8-4 2.8-2 0-3.6-.8-4.2-2",
  audit: "M10 2.5 16 5v4.5c0 4-2.6 6.7-6 8-3.4-1.3-6-4-6-8V5zM7.3 10l2 2 3.6-4",
  search: "M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM13 13l4 4",
  copy: "M7 7h9.5v9.5H7zM4 13H3.5V3.5H13V4",
  close: "M5 5l10 10M15 5 5 15",
  sun: "M10 13.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M15.7 4.3l-1.1 1.1M5.4 14.6l-1.1 1.1",
  moon: "M16.5 11.5A6.8 6.8 0 0 1 8.5 3.5a6.8 6.8 0 1 0 8 8z",
  auto: "M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14",
  exit: "M8 3.5H4v13h4M12 6.5 15.5 10 12 13.5M15 10H7.5",
  arrow: "M4 10h12M12 6l4 4-4 4",
  back: "M16 10H4M8 6l-4 4 4 4",
  warning: "M10 3 18 16.5H2zM10 8v4M10 14.2h.01",
  check: "M4 10.5l4 4 8-9",
  clock: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4l2.5 2",
  pause: "M7 4.5v11M13 4.5v11",
  empty: "M3 11.5 5.5 4h9l2.5 7.5v5H3zM3 11.5h4l1 2h4l1-2h4",
} as const;
export type IconName = keyof typeof PATHS;

/** Decoration: its meaning is given as text beside it. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
