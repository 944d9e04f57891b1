// SPDX-License-Identifier: Apache-2.0
/** Lists, read page by page or completely. */

interface PageDocument {
  data: unknown[];
  has_more: boolean;
  next_cursor: string | null;
}

/** Requests the page after a cursor, or the first page. */
export type PageReader = (cursor: string | undefined) => Promise<PageDocument>;

/** A page, with the additional members of some lists. */
export type PageWith<T, More> = Page<T, More> & More;

/** One page. Iterating over it returns its items and those of all later pages. */
export class Page<T, More = unknown> implements AsyncIterable<T> {
  readonly data!: T[];
  readonly has_more!: boolean;
  readonly next_cursor!: string | null;
  readonly #read: PageReader;

  private constructor(document: PageDocument, read: PageReader) {
    Object.assign(this, document);
    this.#read = read;
  }

  static async read<T, More>(read: PageReader, cursor?: string): Promise<PageWith<T, More>> {
    return new Page<T, More>(await read(cursor), read) as PageWith<T, More>;
  }

  /** Returns the next page; null if this is the last one. */
  async nextPage(): Promise<PageWith<T, More> | null> {
    if (!this.has_more || this.next_cursor === null) return null;
    return Page.read<T, More>(this.#read, this.next_cursor);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (let page: Page<T, More> | null = this; page !== null; page = await page.nextPage())
      yield* page.data;
  }
}

/**
 * The result of a list method: `await` it for its first page, or iterate over all items:
 *
 *     for await (const thread of client.threads.list()) …
 *
 * Nothing is sent before that.
 */
export class PagePromise<T, More = unknown>
  implements Promise<PageWith<T, More>>, AsyncIterable<T>
{
  readonly #read: PageReader;
  #first: Promise<PageWith<T, More>> | undefined;
  readonly [Symbol.toStringTag] = "PagePromise";

  constructor(read: PageReader) {
    this.#read = read;
  }

  then<A = PageWith<T, More>, B = never>(
    done?: ((page: PageWith<T, More>) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#firstPage().then(done, failed);
  }

  catch<B = never>(
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<PageWith<T, More> | B> {
    return this.#firstPage().catch(failed);
  }

  finally(done?: (() => void) | null): Promise<PageWith<T, More>> {
    return this.#firstPage().finally(done);
  }

  /** Iterates page by page, with the cursors. */
  async *pages(): AsyncGenerator<PageWith<T, More>, void> {
    let page: PageWith<T, More> | null = await this.#firstPage();
    for (; page !== null; page = await page.nextPage()) yield page;
  }

  /** Returns all items, or the first `max` of them, in an array. */
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

  #firstPage(): Promise<PageWith<T, More>> {
    this.#first ??= Page.read<T, More>(this.#read);
    return this.#first;
  }
}
