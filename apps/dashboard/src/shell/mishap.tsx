import { Component, type ReactNode } from "react";
import { Empty } from "../parts/states.tsx";

interface ErrorBoundaryProps {
  /** The error is reset when the page changes. */
  readonly page: string;
  readonly children: ReactNode;
}

/** A page that cannot be drawn takes neither menu nor badge with it. Only a class can catch what a component throws. */
export class ErrorBoundary extends Component<
  ErrorBoundaryProps,
  { readonly message: string | null; readonly page: string }
> {
  override state = { message: null, page: this.props.page };

  static getDerivedStateFromError(error: unknown): { readonly message: string } {
    return { message: error instanceof Error ? error.message : String(error) };
  }

  static getDerivedStateFromProps(
    { page }: ErrorBoundaryProps,
    state: { readonly message: string | null; readonly page: string },
  ): { readonly message: string | null; readonly page: string } | null {
    return page === state.page ? null : { message: null, page };
  }

  override render(): ReactNode {
    if (this.state.message === null) return this.props.children;
    return (
      <Empty title="This page cannot be shown" icon="warning">
        {this.state.message}. This is an error of the page, not of the broker; the other pages still work.
      </Empty>
    );
  }
}
