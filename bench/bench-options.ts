/** What every program of the bench is given. */
export interface BenchOptions {
  /** A database of its own, and a broker. */
  servers: { databaseUrl: string; amqpUrl: string };
  /** Shows progress. */
  log: (line: string) => void;
  /** Length of one measurement. */
  seconds: number;
  /** How often each measurement is made. */
  rounds: number;
  /** How many secrets are synced at once. */
  secrets: number;
  /** Folder for CPU profiles. */
  profiles: string | undefined;
}
