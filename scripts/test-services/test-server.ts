/** A server for the tests that was found or started. */
export interface TestServer {
  url: string;
  how: string;
  stop(): Promise<void>;
  /** Stops without waiting, when the process is about to end. */
  stopNow(): void;
}
