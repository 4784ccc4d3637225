import { Component, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../components/button.tsx';
import { useSession } from '../session/session.ts';
import '../components/notice.css';
import { LoadFailure, loadFailedAgain } from './load-page.ts';

/** Shows a page or, if it could not be loaded or has failed, what can be done about that. The rest of the console stays. */
export function PageBoundary({ children }: { children: ReactNode }) {
  const [address] = useLocation();
  const { reload } = useSession();
  return (
    <Boundary address={address} reload={reload}>
      {children}
    </Boundary>
  );
}

interface BoundaryProps {
  address: string;
  reload(): void;
  children: ReactNode;
}

interface BoundaryState {
  failure: unknown;
}

/** React has error boundaries only as classes. */
class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { failure: undefined };

  static getDerivedStateFromError(failure: unknown): BoundaryState {
    return { failure };
  }

  /** Another page is another attempt. */
  override componentDidUpdate({ address }: BoundaryProps): void {
    if (this.state.failure !== undefined && address !== this.props.address) this.retry();
  }

  override componentDidMount(): void {
    window.addEventListener('online', this.retryLoading);
  }

  override componentWillUnmount(): void {
    window.removeEventListener('online', this.retryLoading);
  }

  private readonly retryLoading = (): void => {
    if (this.state.failure instanceof LoadFailure) this.retry();
  };

  private readonly retry = (): void => {
    loadFailedAgain();
    this.setState({ failure: undefined });
  };

  override render(): ReactNode {
    const { failure } = this.state;
    if (failure === undefined) return this.props.children;
    return (
      <FailedPage
        isNotLoaded={failure instanceof LoadFailure}
        onRetry={this.retry}
        onReload={this.props.reload}
      />
    );
  }
}

interface FailedPageProps {
  isNotLoaded: boolean;
  onRetry(): void;
  onReload(): void;
}

/** The message of an error is not shown: it may contain what the page has read. */
const FailedPage = ({ isNotLoaded, onRetry, onReload }: FailedPageProps) => (
  <div className="notice notice-bad" role="alert">
    <h1>{isNotLoaded ? 'This page could not be loaded' : 'This page has failed'}</h1>
    <p>{isNotLoaded ? whyNotLoaded() : 'That is a fault of the console. The service is not affected.'}</p>
    <div className="row">
      <Button kind="primary" onPress={onRetry}>
        Try again
      </Button>
      <Button onPress={onReload}>Reload the console</Button>
    </div>
    <p className="soft">You stay signed in.</p>
  </div>
);

const whyNotLoaded = (): string =>
  window.navigator.onLine
    ? 'The service does not respond, or has been upgraded. After an upgrade, reload the console.'
    : 'This device has no connection. The page is loaded when it is back.';
