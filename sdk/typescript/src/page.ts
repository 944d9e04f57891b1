/** Lists, a page at a time or to their end. */

interface PageDocument<T> {
  data: T[];
  has_more: boolean;
  next_cursor: string | null;
}

/** Asks for the page after a cursor, or for the first one. */
export type PageReader = (cursor: string | undefined) => Promise<PageDocument<unknown>>;

/** One page. Iterate it to get its items and those of all pages after it. */
export class Page<T> implements AsyncIterable<T> {
  readonly data!: T[];
  readonly has_more!: boolean;
  readonly next_cursor!: string | null;
  readonly #read: PageReader;

  constructor(document: PageDocument<T>, read: PageReader) {
    Object.assign(this, document);
    this.#read = read;
  }

  /** The page after this one; null when this is the last. */
  async nextPage(): Promise<Page<T> | null> {
    if (!this.has_more || this.next_cursor === null) return null;
    return new Page((await this.#read(this.next_cursor)) as PageDocument<T>, this.#read);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (let page: Page<T> | null = this; page !== null; page = await page.nextPage())
      yield* page.data;
  }
}

/**
 * What a list answers: `await` it for its first page, or iterate it for all items of all pages:
 *
 *     for await (const thread of client.threads.list()) …
 *
 * Nothing is sent before one of both is done.
 */
export class PagePromise<T> implements Promise<Page<T>>, AsyncIterable<T> {
  readonly #read: PageReader;
  #first: Promise<Page<T>> | undefined;
  readonly [Symbol.toStringTag] = "PagePromise";

  constructor(read: PageReader) {
    this.#read = read;
  }

  then<A = Page<T>, B = never>(
    done?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#firstPage().then(done, failed);
  }

  catch<B = never>(
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<Page<T> | B> {
    return this.#firstPage().catch(failed);
  }

  finally(done?: (() => void) | null): Promise<Page<T>> {
    return this.#firstPage().finally(done);
  }

  /** Page after page, for whoever wants the cursors. */
  async *pages(): AsyncGenerator<Page<T>, void> {
    for (let page: Page<T> | null = await this; page !== null; page = await page.nextPage())
      yield page;
  }

  /** All items, or the first `max` of them, in an array. */
  async toArray(max = Infinity): Promise<T[]> {
    const items: T[] = [];
    if (max <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= max) break;
    }
    return items;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    yield* await this.#firstPage();
  }

  #firstPage(): Promise<Page<T>> {
    this.#first ??= this.#read(undefined).then((d) => new Page(d as PageDocument<T>, this.#read));
    return this.#first;
  }
}
