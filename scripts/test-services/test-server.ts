/** A server for the tests that was found or started. */
export interface TestServer {
  url: string;
  /** Of RabbitMQ's management API, with an administrator's name and password, where it is on. */
  managementUrl?: string;
  how: string;
  stop(): Promise<void>;
  /** Stops without waiting, when the process is about to end. */
  stopNow(): void;
  /**
   * Ends it by a signal and starts it again on the same data and address; `meanwhile` runs while it is down and gets
   * the folder of its data. Absent where the server is not this process's to end.
   */
  restart?(signal: NodeJS.Signals, meanwhile?: (folder: string) => Promise<void> | void): Promise<void>;
}
