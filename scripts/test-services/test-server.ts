/** A server for tests, found or started. */
export interface TestServer {
  url: string;
  /** RabbitMQ's management API, with an administrator's name and password, if it is enabled. */
  managementUrl?: string;
  how: string;
  /** Where it keeps its data and logs, if this process started it. */
  folder?: string;
  stop(): Promise<void>;
  /** Stops without waiting, when the process is about to exit. */
  stopNow(): void;
  /**
   * Ends the server with a signal and starts it again with the same data and address. `meanwhile` runs while it is down and
   * gets its data folder. Absent if this process did not start the server.
   */
  restart?(signal: NodeJS.Signals, meanwhile?: (folder: string) => Promise<void> | void): Promise<void>;
}
