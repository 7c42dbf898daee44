/** What imports need of the platform to ask other hosts. */
export interface Outside {
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Whether private addresses may be asked. */
  readonly allowsPrivate: boolean;
  /** With it credentials for other hosts are encrypted; null: none can be kept. */
  readonly secretsKey: string | null;
}
