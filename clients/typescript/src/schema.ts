// Made from the service's OpenAPI document by `make clients`: change nothing here.
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description One property of a request and what is wrong with it. */
        Problem: {
            /** @description Dotted path of the property or header; empty for the request as a whole */
            path: string;
            /** @description What is wrong with it, or how to put it right */
            message: string;
        };
        /** @description Body of every answer of 400 and above. */
        Error: {
            /** @description What went wrong */
            message: string;
            /** @description HTTP status */
            code: string;
            /** @description One entry for each offending property; may be empty */
            error: components["schemas"]["Problem"][];
        };
        /** @description The total price, as it was given. */
        OrderPrice: {
            /** @description A token that the merchant is settled in, such as EURC for euros; or `USD`. Case does not matter: answers spell it as `GET /v1/tokens` does */
            currency: string;
            /** @description In units of ``10**-decimals`` of the currency; up to 2^256-1 */
            amount: bigint;
            /** @description Decimal places of the amount; they belong to the price, not to the token */
            decimals: number;
            /** @description The amount again, for readers that lose digits past 2^53 */
            amount_string: bigint;
        };
        /** @description What a payer was quoted for something that came: what left the wallet before a swap, no chain is asked. */
        Quoted: {
            /** @description The chain that it was to be paid from */
            chain_id: number;
            /** @description The token that it was to be paid with */
            token: string;
            /** @description The symbol of this token */
            symbol: string;
            /** @description How many decimal places it has */
            decimals: number;
            /** @description What it was to take at the rate of the quote, in smallest units of this token */
            amount: bigint;
            /** @description The most that the transaction that the wallet was given takes of it */
            amount_max: bigint;
            /** @description The payer's transaction, on `chain_id`: this one a chain has shown */
            hash: string;
        };
        /** @description One of them, as an event told of it; one that was stored before lacks what came later. */
        ToldTransaction: {
            /** @description Its chain */
            chain_id: number;
            /** @description Its hash */
            hash: string;
            /**
             * Format: date-time
             * @description When its block was made
             */
            timestamp: string;
            /** @description What its payer was quoted: the quote that the wallet was given last before this was seen, of those that fit what came. It is no proof of what left the wallet; null where no quote is known, and for what a bridge delivered: that has it beside the deposit */
            quoted?: components["schemas"]["Quoted"] | null;
        };
        /** @description A transaction for the wallet at the settlement address, as wallets take it. */
        RefundTransaction: {
            /** @description The chain */
            chain_id: number;
            /** @description The wallet that has to sign it */
            from: string;
            /** @description The token's contract */
            to: string;
            /** @description The chain's own coin to send along, in hexadecimal */
            value: string;
            /** @description Calldata in hexadecimal */
            data: string;
        };
        /** @description Something that went back, as an event told of it; one that was stored before lacks what came later. */
        ToldRefund: {
            /** @description Its id, which cancelling names */
            id?: string;
            /** @description The transfer that brought it */
            transfer: string;
            /** @description The chain */
            chain_id: number;
            /** @description The token's address */
            token: string;
            /** @description What was asked for, in smallest units of this token */
            amount: bigint;
            /** @description What was really sent of it: by one transaction or several, less or more than that */
            amount_sent?: bigint;
            /** @description Who gets it */
            to: string;
            /** @description The last transaction that sent some of it; empty until the chain has one */
            hash: string;
            /**
             * Format: date-time
             * @description When that was mined; null until then
             */
            timestamp: string | null;
            /** @description Whether the wallet has signed all of it, and whether its chain keeps it; or it was cancelled */
            status: components["schemas"]["RefundStatus"];
            /** @description The vendor's own reason or number; null without one */
            note?: string | null;
            /**
             * Format: date-time
             * @description When it was asked for
             */
            created_at?: string;
            /** @description What is to be signed of it still; null once all is sent, or it is cancelled */
            transaction: components["schemas"]["RefundTransaction"] | null;
        };
        /** @description A transfer that reached the vendor and counts for no order. */
        UnmatchedTransfer: {
            /** @description What it is assigned by */
            id: string;
            /** @description The environment of the address that it reached */
            env_mode: components["schemas"]["EnvMode"];
            /** @description Where it arrived */
            chain_id: number;
            /** @description The transaction that brought it */
            transaction_hash: string;
            /**
             * Format: date-time
             * @description When it was mined
             */
            timestamp: string;
            /** @description The token's address */
            token: string;
            /** @description Empty for a token that is not listed */
            token_symbol: string;
            /** @description Null for a token that is not listed */
            token_decimals: number | null;
            /** @description Smallest units of this token */
            amount: bigint;
            /** @description Whose money it was; empty where that can't be told */
            from: string;
            /** @description The vendor's address that it reached */
            to: string;
            /** @description How sure it is that it stays on its chain */
            status: components["schemas"]["PaymentState"];
            /** @description Why it counts for no order */
            reason: components["schemas"]["Unmatched"];
            /** @description The vendor's order that the transaction names; null without one */
            named_order_id: string | null;
            /** @description Whether a bridge delivered it: then it goes to its deposit's order by itself once that deposit is known. Assign it only if that does not happen */
            is_bridged: boolean;
        };
        /** @description The order or the transfer that an event is about, as it was then. */
        EventData: {
            /** @description Id of the order; empty where the event is about none */
            payment_order_id: string;
            /** @description As the order had it then */
            metadata: {
                [key: string]: unknown;
            };
            /** @description The payer's transaction on the chain it paid from, of `paid_after_close` the one that came then; empty before there is one */
            transaction_hash: string;
            /** @description The order's status; null where there is no order */
            payment_order_status: components["schemas"]["OrderStatus"] | null;
            /** @description Why it stands there; empty where there is nothing to say */
            status_reason: components["schemas"]["StatusReason"];
            /** @description What the order costs; missing where the event is about none, and in events that were stored before they had it */
            order_price?: components["schemas"]["OrderPrice"];
            /** @description What had come, in the settlement token's smallest units; there where `order_price` is */
            amount_received?: bigint;
            /** @description What was still missing, in the settlement token's smallest units; null without a settlement; there where `order_price` is */
            amount_due?: bigint | null;
            /** @description Those of the order that weigh most, oldest first: all, or a hundred where it has more; or the transfer's */
            transactions: components["schemas"]["ToldTransaction"][];
            /** @description Only where there are more: how many. The order itself lists all */
            transactions_left_out?: number;
            /** @description Of `payment_refunded` only: what went back */
            refund?: components["schemas"]["ToldRefund"];
            /** @description Of `payment_unmatched` only: what belongs to no order */
            transfer?: components["schemas"]["UnmatchedTransfer"];
        };
        /** @description Something that happened to a payment order, or a transfer that belongs to none. */
        Event: {
            /** @description Always `event` */
            resource: string;
            /** @description What happened */
            type: components["schemas"]["EventType"];
            /**
             * Format: date-time
             * @description When it happened
             */
            created_at: string;
            /** @description The environment of the order or transfer */
            env_mode: components["schemas"]["EnvMode"];
            /** @description What it happened to */
            data: components["schemas"]["EventData"];
        };
        /** @description What a webhook gets. */
        WebhookBody: {
            /** @description The event */
            event: components["schemas"]["Event"];
        };
        /** @description The coin that pays for gas on a chain. */
        NativeCurrency: {
            /** @description Its name */
            name: string;
            /** @description Its symbol */
            symbol: string;
            /** @description Its decimal places */
            decimals: number;
        };
        /** @description A chain. */
        Chain: {
            /** @description The chain's id */
            chainId: number;
            /** @description Its name */
            name: string;
            /** @description URL of a logo */
            logoURI: string;
            /** @description What pays for its gas */
            nativeCurrency: components["schemas"]["NativeCurrency"];
        };
        /** @description A token in a route: as in the list of tokens, or its key alone with `tokens=once`. */
        RouteToken: {
            /** @description Its symbol */
            symbol?: string;
            /** @description Its decimal places */
            decimals?: number;
            /** @description Its name */
            name?: string;
            /** @description URL of a logo; empty for a token that is not a listed one */
            logoURI?: string;
            /** @description Address on each chain, by chain id, in the mixed case of EIP-55 */
            chain_to_address?: {
                [key: string]: string;
            };
            /** @description The chains that it is on */
            chains?: components["schemas"]["Chain"][];
            /** @description Any of `native`, `wrapped_native`, `stablecoin`, `bridged`, `liquid_staking`, `yield_bearing`. A bridged token is another token than the one it stands for. */
            tags?: string[];
            /** @description Only with `tokens=once`, and then alone: the token's key in `tokens` of the answer */
            key?: string;
        };
        /** @description One fee of one step. */
        Fee: {
            /** @description In the smallest unit of the currency */
            amount: bigint;
            /** @description The token that it is paid in */
            currency: components["schemas"]["RouteToken"];
            /** @description What it is for, such as `lp_fee`, `relayer_fee` or `gas` */
            name: string;
            /** @description True: `outputAmount` is what remains after it. False: paid on top, as gas is. */
            included: boolean;
        };
        /** @description What one protocol does. */
        Step: {
            /** @description True where the bridge has just confirmed these amounts; only in streams for a wallet */
            isFirm?: boolean;
            /** @description The bridge or exchange that does it */
            protocol: string;
            /** @description What it takes */
            fromToken: components["schemas"]["RouteToken"];
            /** @description What it gives */
            toToken: components["schemas"]["RouteToken"];
            /** @description The chain that it begins on */
            fromChainId: number;
            /** @description The chain that it ends on */
            toChainId: number;
            /** @description Smallest unit of `fromToken` */
            inputAmount: bigint;
            /** @description Smallest unit of `toToken` */
            outputAmount: bigint;
            /** @description Whole seconds; a step in the same transaction as the one before adds none */
            estimatedTime: string;
            /** @description What it costs */
            fees: components["schemas"]["Fee"][];
        };
        /** @description One currency's fees together. */
        FeeSum: {
            /** @description In the smallest unit of the currency */
            amount: bigint;
            /** @description The token that it is paid in */
            currency: components["schemas"]["RouteToken"];
        };
        /** @description An allowance that a leg needs, exactly; `transactions` give it where the payer has not given it yet. */
        LegApproval: {
            /** @description The token that is spent */
            token: string;
            /** @description Who may spend it */
            spender: string;
            /** @description How much, in the token's smallest unit */
            amount: bigint;
            /** @description The Permit2 contract that it is given to, which is asked for it; else empty */
            through: string;
            /**
             * Format: date-time
             * @description When it ends by itself; null where it does not
             */
            until: string | null;
        };
        /** @description A transaction for the payer's wallet, as wallets take it; it was tried before it was offered. */
        LegTransaction: {
            /** @description What it is for: the allowances come before what they are for */
            purpose: components["schemas"]["Purpose"];
            /** @description The chain that it is sent on */
            chainId: number;
            /** @description The wallet that has to sign it */
            from: string;
            /** @description The contract, or who gets the chain's own coin */
            to: string;
            /** @description The chain's own coin to send along, in hexadecimal */
            value: string;
            /** @description Calldata in hexadecimal */
            data: string;
            /** @description Gas limit in hexadecimal: what the trial used, and a margin */
            gasLimit: string;
        };
        /** @description A part of a route that one transaction does, beside those that give allowances. */
        RouteLeg: {
            /** @description The route's steps that it does, counted from 0 */
            steps: number[];
            /** @description `ready`: sign `transactions` in their order. Else why not */
            status: components["schemas"]["LegStatus"];
            /** @description Why it is not ready, and what helps; else empty */
            message: string;
            /** @description The chain that it is sent on */
            fromChainId: number;
            /** @description The chain that its output arrives on */
            toChainId: number;
            /** @description What it spends */
            fromToken: string;
            /** @description What it gives */
            toToken: string;
            /** @description Whose wallet signs it: the payer */
            sender: string;
            /** @description Who gets what it gives: the recipient, or the payer where another leg follows */
            recipient: string;
            /** @description The most that it spends, smallest unit of `fromToken` */
            inputAmountMax: bigint;
            /** @description The least that it gives, smallest unit of `toToken`; its contracts make sure */
            outputAmountMin: bigint;
            /** @description The tolerance that the two are counted with, in 1/10000 */
            slippageBps: number;
            /** @description The allowances that it needs; none for the coin */
            approvals: components["schemas"]["LegApproval"][];
            /** @description What was tried, in order; empty where nothing was */
            transactions: components["schemas"]["LegTransaction"][];
            /**
             * Format: date-time
             * @description Ask for the route again if it is not signed by then
             */
            validUntil: string;
            /**
             * Format: date-time
             * @description Its contracts refuse it from then on; null where they take it at any time
             */
            deadline: string | null;
            /**
             * Format: date-time
             * @description Until when a bridge delivers; null where there is no such moment
             */
            fillDeadline: string | null;
        };
        /** @description A route from the source token to the destination token. */
        Alternative: {
            /** @description Id of the route */
            id: string;
            /** @description In an order in which they can run; paths side by side start at the same token. */
            steps: components["schemas"]["Step"][];
            /** @description Whole seconds for the whole route */
            estimatedTime: string;
            /** @description Fees of all steps by currency */
            totalFees: components["schemas"]["FeeSum"][];
            /** @description What the source is charged */
            inputAmount: bigint;
            /** @description With `outputAmount` given: the most that may be charged after slippage */
            inputAmountMax: bigint;
            /** @description What arrives at the present state of the markets, exactly */
            outputAmount: bigint;
            /** @description What arrives at least after slippage */
            outputAmountMin: bigint;
            /** @description Loss by the amount's own size, in 1/10000 */
            priceImpactBps: number;
            /** @description Gas units of all steps, an estimate */
            gas: bigint;
            /**
             * Format: date-time
             * @description Until when it holds: 60 s after the answer
             */
            expiresAt: string;
            /** @description Content hash of the market data that the route rests on */
            snapshotId: string;
            /** @description How much better, in 1/10000, any other route of `optimalityGapScope` could be net of gas, proven; over any number of parallel paths. Null: nothing is proven, as for alternatives. */
            optimalityGapBps: number | null;
            /** @description The routes that `optimalityGapBps` speaks of: `routes_up_to_4_hops`, over so many markets in series, or `all_flows`, over any number. Null where there is no gap. */
            optimalityGapScope: string | null;
            /** @description The same against every route, over any number of markets in series. Null where it is not known: only where gas counts and costs little beside the amount. */
            optimalityGapAllFlowsBps: number | null;
            /** @description Why nothing is proven; empty where `optimalityGapBps` is a number */
            optimalityGapReason: string;
            /** @description Only with `payer` and `recipient`: what the wallet sends, in order */
            legs?: components["schemas"]["RouteLeg"][];
        };
        /** @description A token, on all of its chains. */
        Token: {
            /** @description Its symbol */
            symbol: string;
            /** @description Its decimal places */
            decimals: number;
            /** @description Its name */
            name: string;
            /** @description URL of a logo; empty for a token that is not a listed one */
            logoURI: string;
            /** @description Address on each chain, by chain id, in the mixed case of EIP-55 */
            chain_to_address: {
                [key: string]: string;
            };
            /** @description The chains that it is on */
            chains: components["schemas"]["Chain"][];
            /** @description Any of `native`, `wrapped_native`, `stablecoin`, `bridged`, `liquid_staking`, `yield_bearing`. A bridged token is another token than the one it stands for. */
            tags: string[];
        };
        /** @description A source of rates that could not be asked. */
        Unavailable: {
            /** @description Its name */
            protocol: string;
            /** @description Why */
            reason: string;
        };
        /** @description The best route. */
        Route: {
            /** @description Id of the route */
            id: string;
            /** @description In an order in which they can run; paths side by side start at the same token. */
            steps: components["schemas"]["Step"][];
            /** @description Whole seconds for the whole route */
            estimatedTime: string;
            /** @description Fees of all steps by currency */
            totalFees: components["schemas"]["FeeSum"][];
            /** @description What the source is charged */
            inputAmount: bigint;
            /** @description With `outputAmount` given: the most that may be charged after slippage */
            inputAmountMax: bigint;
            /** @description What arrives at the present state of the markets, exactly */
            outputAmount: bigint;
            /** @description What arrives at least after slippage */
            outputAmountMin: bigint;
            /** @description Loss by the amount's own size, in 1/10000 */
            priceImpactBps: number;
            /** @description Gas units of all steps, an estimate */
            gas: bigint;
            /**
             * Format: date-time
             * @description Until when it holds: 60 s after the answer
             */
            expiresAt: string;
            /** @description Content hash of the market data that the route rests on */
            snapshotId: string;
            /** @description How much better, in 1/10000, any other route of `optimalityGapScope` could be net of gas, proven; over any number of parallel paths. Null: nothing is proven, as for alternatives. */
            optimalityGapBps: number | null;
            /** @description The routes that `optimalityGapBps` speaks of: `routes_up_to_4_hops`, over so many markets in series, or `all_flows`, over any number. Null where there is no gap. */
            optimalityGapScope: string | null;
            /** @description The same against every route, over any number of markets in series. Null where it is not known: only where gas counts and costs little beside the amount. */
            optimalityGapAllFlowsBps: number | null;
            /** @description Why nothing is proven; empty where `optimalityGapBps` is a number */
            optimalityGapReason: string;
            /** @description Only with `payer` and `recipient`: what the wallet sends, in order */
            legs?: components["schemas"]["RouteLeg"][];
            /** @description Further routes; only where they were asked for */
            alternatives?: components["schemas"]["Alternative"][];
            /** @description Why the search ended before it had looked at all that may be better, as for an amount far beyond what markets hold; empty where it ended by itself. Amounts are exact either way. */
            incompleteReason: string;
            /** @description Only with `tokens=once`: every token of the answer by its `key` */
            tokens?: {
                [key: string]: components["schemas"]["Token"];
            };
            /** @description Sources of rates that this answer does without; only where there are any */
            unavailable?: components["schemas"]["Unavailable"][];
        };
        /** @description One message of the stream of routes; `type` says which of the other properties it has. */
        StreamMessage: {
            /** @description What the message tells */
            type: components["schemas"]["StreamMessageType"];
            /** @description Of a `route`: counts from 0; each is better than the one before, or firmer */
            seq?: number;
            /** @description Of a `route` */
            route?: components["schemas"]["Route"];
            /** @description Of `done`: the id of the best route */
            best?: string;
            /** @description Of `done`: sources that could not be asked */
            unavailable?: components["schemas"]["Unavailable"][];
            /** @description Of an `error`, as in the error body */
            message?: string;
            /** @description Of an `error`, as in the error body */
            code?: string;
            /** @description Of an `error`, as in the error body */
            error?: components["schemas"]["Problem"][];
        };
        /** @description A question for routes, and for the transactions of a wallet. */
        RouteQuery: {
            /** @description Address of the source token in any case. The chain's own coin is `0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE`; the zero address means it too. */
            fromToken: string;
            /** @description Address of the destination token. */
            toToken: string;
            /** @description Chain id of the source token, as a string or an integer. One of 1 (Ethereum), 10 (Optimism), 137 (Polygon), 8453 (Base), 42161 (Arbitrum). */
            fromChainId: number;
            /** @description Chain id of the destination token. One of 1 (Ethereum), 10 (Optimism), 137 (Polygon), 8453 (Base), 42161 (Arbitrum). */
            toChainId: number;
            /** @description How much of the source token to swap, in its smallest unit; required unless `outputAmount` is given. */
            inputAmount?: bigint | number;
            /** @description Instead of `inputAmount`: how much of the destination token must arrive. The route is then the one that needs the least. */
            outputAmount?: bigint | number;
            /**
             * @description `cheapest` (default): most output after gas. `fastest`: least time. `balanced`: one minute of waiting weighs as much as 0.01 % of the amount.
             * @enum {string}
             */
            order?: "cheapest" | "fastest" | "balanced";
            /** @description Tolerated loss until execution in 1/10000; decides `outputAmountMin`. Default: 30 between stablecoins, else 50. */
            slippageBps?: number;
            /** @description At most how many steps one after the other. Default: 5. */
            maxHops?: number;
            /** @description At most how many paths side by side. Default: 5. */
            maxSplits?: number;
            /** @description Use these protocols only. */
            allowProtocols?: string[];
            /** @description Never use these protocols. */
            denyProtocols?: string[];
            /** @description How many further routes to return in `alternatives`. Default: 0. */
            alternatives?: number;
            /** @description Whose wallet executes the route. With it and `recipient` each route has `legs`: the transactions, tried out, or the reason why there are none. In mixed case its checksum (EIP-55) has to be right. */
            payer?: string;
            /** @description Who gets what arrives in the end; may be the payer. Required with `payer`. */
            recipient?: string;
        };
        /** @description What a bridge took in, and what it delivered for it. */
        RouteDelivery: {
            /** @description The bridge */
            bridge: string;
            /** @description Whether it has arrived */
            status: components["schemas"]["ArrivalStatus"];
            /** @description Why that is not known, or what follows; else empty */
            message: string;
            /** @description Where it arrives; null where nobody can tell */
            chainId: number | null;
            /** @description What arrives; empty where nobody can tell */
            token: string;
            /** @description Who gets it; empty where nobody can tell */
            recipient: string;
            /** @description What the bridge has to deliver, smallest unit; 0 where nobody can tell */
            outputAmountMin: bigint;
            /** @description What it delivered; null until then */
            outputAmount: bigint | null;
            /** @description The delivery; empty until then */
            transactionHash: string;
            /**
             * Format: date-time
             * @description Until when it delivers; null where there is no such moment
             */
            fillDeadline: string | null;
        };
        /** @description Where the transaction of a leg stands, as its chain tells it. */
        FollowedTransaction: {
            /** @description The chain that was asked */
            chainId: number;
            /** @description The transaction */
            transactionHash: string;
            /** @description `mined`: it did what it should, on its chain. `bridging`: a bridge has taken in what it is to deliver */
            status: components["schemas"]["RouteStatus"];
            /** @description Why it is unknown, or has failed; else empty */
            message: string;
            /** @description Its block; null while it has none */
            blockNumber: number | null;
            /**
             * Format: date-time
             * @description Its block's time; null while it has none
             */
            minedAt: string | null;
            /** @description Blocks from its own to the newest, both counted */
            confirmations: number;
            /** @description Whether its chain calls its block final */
            isFinal: boolean;
            /** @description What it put into bridges, at most five; empty where that is nothing */
            deliveries: components["schemas"]["RouteDelivery"][];
        };
        /** @description What a swap gives at the current market rate, held for 60 seconds. */
        Quote: {
            /** @description Smallest unit of the destination token */
            toAmount: bigint;
            /** @description What arrives at least after slippage; rounded down */
            toAmountMin: bigint;
            /** @description The destination token */
            toToken: string;
            /** @description Chain id of the destination token */
            toChain: string;
            /** @description The source token */
            fromToken: string;
            /** @description Smallest unit of the source token */
            fromAmount: bigint;
            /** @description Chain id of the source token */
            fromChain: string;
            /** @description With `toAmount` only: what is spent at most, after slippage; rounded up */
            inputAmountMax?: bigint;
            /** @description Id of the quote */
            quoteId: string;
            /**
             * Format: date-time
             * @description Until when it holds: 60 s after the answer
             */
            expiresAt: string;
            /** @description Why the search ended before it had looked at all that may be better, as for an amount far beyond what markets hold; empty where it ended by itself. Amounts are exact either way. */
            incompleteReason: string;
        };
        /** @description A quote with all that it rests on; `docs/formats.md` describes the file. */
        QuoteArchive: {
            /** @description Always `routing-engine-archive` */
            format: string;
            /** @description Of the format */
            version: number;
            /** @description Version of the engine that answered */
            engine: string;
            /** @description Which search was asked */
            search: string;
            /** @description Every field of the request to the engine */
            request: {
                [key: string]: unknown;
            };
            /** @description Routes, amounts and certificates */
            answer: {
                [key: string]: unknown;
            };
            /** @description The market, in the engine's own format */
            snapshot: {
                [key: string]: unknown;
            };
        };
        /** @description The price of one piece: `amount / 10**decimals` of the order's currency. */
        NewUnitPrice: {
            /** @description In units of ``10**-decimals`` of the currency, 0 to 2^256-1: an integer, or a string of digits */
            amount: bigint | number;
            /** @description Decimal places of the amount; they belong to the price, not to the token */
            decimals: number;
            /** @description The order's currency, also without it */
            currency?: string;
        };
        /** @description One thing that is sold. */
        NewLineItem: {
            /** @description The name that the customer sees */
            title: string;
            /** @description How many pieces */
            quantity: number;
            /** @description Shown below the name */
            description?: string;
            /**
             * Format: uri
             * @description A picture, over https; in test mode over plain http too, which the page does not show
             */
            image_url?: string;
            /** @description Of one piece; where all items have one, they add up to the order's */
            unit_price?: components["schemas"]["NewUnitPrice"];
        };
        /** @description The total price: `amount / 10**decimals` of the currency. */
        NewOrderPrice: {
            /** @description A token that the merchant is settled in, such as EURC for euros; or `USD`. Case does not matter: answers spell it as `GET /v1/tokens` does */
            currency: string;
            /** @description In units of ``10**-decimals`` of the currency, 1 to 2^256-1: an integer, or a string of digits */
            amount: bigint | number;
            /** @description Decimal places of the amount; they belong to the price, not to the token */
            decimals: number;
        };
        /** @description What is sold for how much, and where the customer goes afterwards. */
        NewPaymentLink: {
            /** @description What is sold; the customer sees it */
            line_items: components["schemas"]["NewLineItem"][];
            /** @description What it costs in total */
            order_price: components["schemas"]["NewOrderPrice"];
            /** @description The environment, which has to be the key's */
            env_mode: components["schemas"]["EnvMode"];
            /**
             * Format: uri
             * @description Where the customer goes once the order is paid; `payment_order_id` and `status` are added to its query
             */
            success_callback_url: string;
            /**
             * Format: uri
             * @description Where the customer goes who does not want to pay; with the same two parameters
             */
            cancel_callback_url: string;
            /**
             * Format: uri
             * @description Where the customer goes when the order has failed; with the same two parameters
             */
            failure_callback_url: string;
            /** @description Whatever the merchant wants back with the order and its events; at most 16 kB of JSON */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description 30 minutes to 30 days from now; 24 hours from now without it
             */
            expires_at?: string;
        };
        /** @description A payment link; the first answer to a request, which a version before gave and a repetition gets, is shorter. */
        PaymentLink: {
            /** @description Id of the new order */
            payment_order_id: string;
            /**
             * Format: uri
             * @description Where to send the customer
             */
            payment_url: string;
            /**
             * Format: date-time
             * @description Until when the customer may pay
             */
            expires_at?: string;
            /** @description What it costs: compare it with your own */
            order_price?: components["schemas"]["OrderPrice"];
        };
        /** @description The price of one piece, as it was given. */
        UnitPrice: {
            /** @description In units of ``10**-decimals`` of the currency */
            amount: bigint;
            /** @description Decimal places of the amount; they belong to the price, not to the token */
            decimals: number;
            /** @description The order's currency */
            currency?: string;
        };
        /** @description One thing that is sold, as it was given. */
        LineItem: {
            /** @description The name that the customer sees */
            title: string;
            /** @description How many pieces */
            quantity: number;
            /** @description Shown below the name */
            description?: string;
            /**
             * Format: uri
             * @description A picture
             */
            image_url?: string;
            /** @description Of one piece */
            unit_price?: components["schemas"]["UnitPrice"];
        };
        /** @description Where and in what the merchant receives. */
        Settlement: {
            /** @description The chain */
            chain_id: number;
            /** @description The token */
            token_address: string;
            /** @description Its symbol */
            token_symbol: string;
            /** @description Its decimal places */
            token_decimals: number;
            /** @description The merchant's address */
            address: string;
            /** @description The whole price in the token's smallest units */
            amount: bigint;
            /** @description Whether the price was finer than the token's smallest unit */
            rounded_up: boolean;
        };
        /** @description A transaction that belongs to the order. */
        Transaction: {
            /** @description Its chain */
            chain_id: number;
            /** @description Its hash */
            hash: string;
            /**
             * Format: date-time
             * @description When its block was made
             */
            timestamp: string;
            /** @description What its payer was quoted: the quote that the wallet was given last before this was seen, of those that fit what came. It is no proof of what left the wallet; null where no quote is known, and for what a bridge delivered: that has it beside the deposit */
            quoted: components["schemas"]["Quoted"] | null;
        };
        /** @description A payment that a bridge took in and could not deliver. */
        Stranded: {
            /** @description Where the money is */
            chain_id: number;
            /** @description Which token it is */
            token_address: string;
            /** @description How much, in its smallest units */
            amount: bigint;
            /** @description Which bridge has it */
            bridge: string;
            /** @description The transaction that gave it to the bridge */
            deposit_hash: string;
            /** @description Who gets it back */
            owner: string;
            /** @description The transaction that gave it back; empty until then */
            refund_hash: string;
            /** @description What happens now, for people */
            next_step: string;
        };
        /** @description Something that reached the merchant for the order, whichever token it is. */
        Transfer: {
            /** @description What `transfer` of a refund names */
            id: string;
            /** @description The chain */
            chain_id: number;
            /** @description The transaction */
            hash: string;
            /**
             * Format: date-time
             * @description When it was mined
             */
            timestamp: string;
            /** @description The token's address */
            token: string;
            /** @description Smallest units of this token */
            amount: bigint;
            /** @description What no refund was asked for yet */
            amount_left: bigint;
            /** @description Whose money it was; empty where that can't be told */
            from: string;
            /** @description What its payer was quoted: the quote that the wallet was given last before this was seen, of those that fit what came. It is no proof of what left the wallet; null where no quote is known */
            quoted: components["schemas"]["Quoted"] | null;
            /** @description Why it counts */
            evidence: components["schemas"]["Evidence"];
            /** @description How sure it is; only what is `final` can be sent back */
            status: components["schemas"]["PaymentState"];
        };
        /** @description Something that goes back. */
        Refund: {
            /** @description Its id, which cancelling names */
            id: string;
            /** @description The transfer that brought it */
            transfer: string;
            /** @description The chain */
            chain_id: number;
            /** @description The token's address */
            token: string;
            /** @description What was asked for, in smallest units of this token */
            amount: bigint;
            /** @description What was really sent of it: by one transaction or several, less or more than that */
            amount_sent: bigint;
            /** @description Who gets it */
            to: string;
            /** @description The last transaction that sent some of it; empty until the chain has one */
            hash: string;
            /**
             * Format: date-time
             * @description When that was mined; null until then
             */
            timestamp: string | null;
            /** @description Whether the wallet has signed all of it, and whether its chain keeps it; or it was cancelled */
            status: components["schemas"]["RefundStatus"];
            /** @description The vendor's own reason or number; null without one */
            note: string | null;
            /**
             * Format: date-time
             * @description When it was asked for
             */
            created_at: string;
            /** @description What is to be signed of it still; null once all is sent, or it is cancelled */
            transaction: components["schemas"]["RefundTransaction"] | null;
        };
        /** @description One change of the order. */
        Timeline: {
            /** @description The status since then */
            status: components["schemas"]["OrderStatus"];
            /** @description Why; empty where there is nothing to say */
            status_reason: components["schemas"]["StatusReason"];
            /**
             * Format: date-time
             * @description When it changed
             */
            at: string;
            /** @description The transaction behind the change: the payer's, a refund's where money went back, of `paid_after_close` the one that came then; empty before there was one */
            transaction_hash: string;
        };
        /** @description A payment order. */
        PaymentOrder: {
            /** @description Its id */
            payment_order_id: string;
            /** @description Where it stands */
            payment_order_status: components["schemas"]["OrderStatus"];
            /** @description Its environment */
            env_mode: components["schemas"]["EnvMode"];
            /**
             * Format: uri
             * @description Where the customer goes once the order is paid; `payment_order_id` and `status` are added to its query
             */
            success_callback_url: string;
            /**
             * Format: uri
             * @description Where the customer goes who does not want to pay; with the same two parameters
             */
            cancel_callback_url: string;
            /**
             * Format: uri
             * @description Where the customer goes when the order has failed; with the same two parameters
             */
            failure_callback_url: string;
            /** @description What is sold */
            line_items: components["schemas"]["LineItem"][];
            /** @description What it costs in total */
            order_price: components["schemas"]["OrderPrice"];
            /** @description The payer's transaction on the chain it paid from; empty before there is one */
            transaction_hash: string;
            /** @description As it was given with the link, or put in its place since */
            metadata: {
                [key: string]: unknown;
            };
            /** @description Why it stands there; empty where there is nothing to say */
            status_reason: components["schemas"]["StatusReason"];
            /**
             * Format: uri
             * @description Where the customer pays
             */
            payment_url: string;
            /** @description Whether somebody may pay it as it stands now */
            payable: boolean;
            /** @description Why nobody may; empty where somebody may */
            not_payable_reason: components["schemas"]["NotPayable"];
            /** @description What is still missing, in the settlement token's smallest units; null without a settlement */
            amount_due: bigint | null;
            /** @description What came, in the settlement token's smallest units */
            amount_received: bigint;
            /** @description Where and in what the merchant receives; null where it has no account for that */
            settlement: components["schemas"]["Settlement"] | null;
            /** @description Each once, oldest first */
            transactions: components["schemas"]["Transaction"][];
            /** @description Payments that a bridge could not deliver */
            stranded: components["schemas"]["Stranded"][];
            /** @description What reached the merchant, whichever token it is */
            transfers: components["schemas"]["Transfer"][];
            /** @description What goes back, oldest first */
            refunds: components["schemas"]["Refund"][];
            /** @description Every change, oldest first */
            timeline: components["schemas"]["Timeline"][];
            /**
             * Format: date-time
             * @description Until when the customer may pay
             */
            expires_at: string;
            /**
             * Format: date-time
             * @description When it was made
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When its status, or what moved for it, last changed
             */
            updated_at: string;
        };
        /** @description A page of orders, newest first. */
        OrderList: {
            /** @description The orders */
            data: components["schemas"]["PaymentOrder"][];
            /** @description Send it as `cursor` for the next page; null on the last one */
            next_cursor: string | null;
        };
        /** @description What is to change of an order. */
        OrderChange: {
            /** @description All that the merchant wants back with the order from now on; at most 16 kB of JSON */
            metadata: {
                [key: string]: unknown;
            };
        };
        /** @description What is to be sent back; without anything all of the order's only transfer, to whoever paid it. */
        NewRefund: {
            /** @description Required where the order has several transfers */
            transfer?: string;
            /** @description In units of ``10**-decimals`` of the transfer's own token, in its smallest units without `decimals`; all that is left without */
            amount?: bigint | number;
            /** @description Decimal places of `amount`, as in a price; those of the token without */
            decimals?: number;
            /** @description Required where who paid can't be told for certain. In mixed case its checksum (EIP-55) has to be right */
            to?: string;
            /** @description Your own reason or number, which the refund shows again; the customer does not see it */
            note?: string;
        };
        /** @description Which refund is to be cancelled. */
        CancelRefund: {
            /** @description Its id, as `refunds` of the order has it */
            refund: string;
        };
        /** @description What shall happen to a test order. */
        Simulate: {
            /** @description What happens. A `reorg` takes the block of this order's payment back, and with it what other test orders were paid in the same block; their payments come again within seconds */
            action: components["schemas"]["Action"];
            /** @description Quote of this order, for paying as the payer chose */
            quote_id?: string;
            /** @description With `token`: the chain that it is paid from. One of 1 (Ethereum), 10 (Optimism), 137 (Polygon), 8453 (Base), 42161 (Arbitrum). */
            chain_id?: number;
            /** @description Of `pay`, `underpay`, `overpay`, `bridge_delay`, `bridge_fail`: the address of the token that it is paid with, on `chain_id`; the order is quoted in it first, as its page does. `quote_id` names a quote that is there already */
            token?: string;
            /** @description With `pay`: the price reaches you and names no order, as what an exchange sends. The order stays as it is, and `payment_unmatched` tells of the transfer */
            without_reference?: boolean;
        };
        /** @description Something that goes back, and of which order. */
        ListedRefund: {
            /** @description Its id, which cancelling names */
            id: string;
            /** @description The transfer that brought it */
            transfer: string;
            /** @description The chain */
            chain_id: number;
            /** @description The token's address */
            token: string;
            /** @description What was asked for, in smallest units of this token */
            amount: bigint;
            /** @description What was really sent of it: by one transaction or several, less or more than that */
            amount_sent: bigint;
            /** @description Who gets it */
            to: string;
            /** @description The last transaction that sent some of it; empty until the chain has one */
            hash: string;
            /**
             * Format: date-time
             * @description When that was mined; null until then
             */
            timestamp: string | null;
            /** @description Whether the wallet has signed all of it, and whether its chain keeps it; or it was cancelled */
            status: components["schemas"]["RefundStatus"];
            /** @description The vendor's own reason or number; null without one */
            note: string | null;
            /**
             * Format: date-time
             * @description When it was asked for
             */
            created_at: string;
            /** @description What is to be signed of it still; null once all is sent, or it is cancelled */
            transaction: components["schemas"]["RefundTransaction"] | null;
            /** @description The order */
            payment_order_id: string;
        };
        /** @description A page of refunds, newest first. */
        RefundList: {
            /** @description The refunds */
            data: components["schemas"]["ListedRefund"][];
            /** @description Send it as `cursor` for the next page; null on the last one */
            next_cursor: string | null;
        };
        /** @description A page of transfers, newest first. */
        UnmatchedTransferList: {
            /** @description The transfers */
            data: components["schemas"]["UnmatchedTransfer"][];
            /** @description Send it as `cursor` for the next page; null on the last one */
            next_cursor: string | null;
        };
        /** @description The order that a transfer is given to. */
        Assignment: {
            /** @description Any order of the vendor, open or closed */
            payment_order_id: string;
        };
        /** @description What customers see of the vendor; empty is what it has not chosen. */
        Brand: {
            /** @description The environment that it is for */
            env_mode: components["schemas"]["EnvMode"];
            /** @description The name on the page */
            display_name: string;
            /** @description The colour of the page */
            accent_color: string;
            /** @description Where customers find help */
            support: string;
            /** @description URL of the logo */
            logo_url: string;
            /**
             * Format: date-time
             * @description When it was last changed; null before that
             */
            updated_at: string | null;
        };
        /** @description What is to change; what is not named stays, and empty text takes a choice back. */
        BrandChange: {
            /** @description The vendor's own name where it is empty */
            display_name?: string;
            /** @description `#` and six hexadecimal digits */
            accent_color?: string;
            /** @description An e-mail address, or an https URL */
            support?: string;
            /**
             * Format: byte
             * @description PNG, JPEG or WebP of at most 40960 bytes, best square, at least 80 pixels wide
             */
            logo?: string;
        };
        /** @description A page of the list of tokens. */
        TokenList: {
            /** @description The tokens of this page */
            tokens: components["schemas"]["Token"][];
            /** @description All chains that are supported */
            chains: components["schemas"]["Chain"][];
            /**
             * Format: date-time
             * @description When the market last changed
             */
            updated_at: string;
            /** @description Send it as `cursor` for the next page; null on the last one */
            next_cursor: string | null;
        };
        /** @description Where to send the events of one environment. */
        NewSubscription: {
            /**
             * Format: uri
             * @description Where to send them
             */
            webhook_url: string;
            /**
             * @description Whose events
             * @default live
             */
            env_mode?: components["schemas"]["EnvMode"];
            /**
             * @description Types that are sent; without it the first three. The others come only where they are named
             * @default [
             *       "payment_processing",
             *       "payment_success",
             *       "payment_failed"
             *     ]
             */
            events?: components["schemas"]["EventType"][];
        };
        /** @description A subscription with its secret, this once. */
        SecretSubscription: {
            /** @description Its id */
            webhook_id: string;
            /**
             * Format: uri
             * @description Where its events go
             */
            webhook_url: string;
            /** @description The environment whose events it gets */
            env_mode: components["schemas"]["EnvMode"];
            /** @description Types of events that it gets */
            events: components["schemas"]["EventType"][];
            /** @description Whether it gets new events */
            status: components["schemas"]["SubscriptionStatus"];
            /** @description Why it does not; null while it does */
            disabled_reason: string | null;
            /**
             * Format: date-time
             * @description When the first attempt failed since the last success; null where none has
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When it was made
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed
             */
            updated_at: string;
            /** @description What signs its deliveries, by Standard Webhooks; shown this once */
            secret: string;
        };
        /** @description A subscription just made, or with a new secret. */
        Registered: {
            /** @description What was done */
            message: string;
            /** @description The subscription */
            data: components["schemas"]["SecretSubscription"];
        };
        /** @description A subscription, without its secret. */
        Subscription: {
            /** @description Its id */
            webhook_id: string;
            /**
             * Format: uri
             * @description Where its events go
             */
            webhook_url: string;
            /** @description The environment whose events it gets */
            env_mode: components["schemas"]["EnvMode"];
            /** @description Types of events that it gets */
            events: components["schemas"]["EventType"][];
            /** @description Whether it gets new events */
            status: components["schemas"]["SubscriptionStatus"];
            /** @description Why it does not; null while it does */
            disabled_reason: string | null;
            /**
             * Format: date-time
             * @description When the first attempt failed since the last success; null where none has
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When it was made
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed
             */
            updated_at: string;
        };
        /** @description All subscriptions of one environment. */
        SubscriptionList: {
            /** @description The subscriptions */
            data: components["schemas"]["Subscription"][];
        };
        /** @description One subscription. */
        FoundSubscription: {
            /** @description The subscription */
            data: components["schemas"]["Subscription"];
        };
        /** @description What is to change of a subscription; what is not named stays. */
        SubscriptionChange: {
            /**
             * Format: uri
             * @description Where to send them from now on
             */
            webhook_url?: string;
            /** @description Types that are sent; without it the first three. The others come only where they are named */
            events?: components["schemas"]["EventType"][];
        };
        /** @description A subscription after a change. */
        Changed: {
            /** @description What was done */
            message: string;
            /** @description The subscription */
            data: components["schemas"]["Subscription"];
        };
        /** @description One sentence. */
        Message: {
            /** @description What was done */
            message: string;
        };
        /** @description What to try a receiver with. */
        SampleEvent: {
            /**
             * @description What the event tells
             * @default payment_processing
             */
            type?: components["schemas"]["EventType"];
        };
        /** @description An event that is on its way. */
        SentEvent: {
            /** @description Its id, the `webhook-id` of its deliveries */
            event_id: string;
        };
        /** @description A test event that is on its way. */
        SentTest: {
            /** @description What was done */
            message: string;
            /** @description The event */
            data: components["schemas"]["SentEvent"];
        };
        /** @description A subscription that is active again. */
        Enabled: {
            /** @description What was done */
            message: string;
            /** @description The subscription */
            data: components["schemas"]["Subscription"];
            /**
             * Format: date-time
             * @description When the first event was made that it did not get; null if it was not disabled
             */
            missed_since: string | null;
        };
        /** @description From where on a subscription missed events. */
        Missed: {
            /** @description `missed_since` of the answer that enabled it, `next_cursor` of the page before, the id of an event, or a moment with a time zone */
            since: string;
            /**
             * @description At most so many events
             * @default 100
             */
            limit?: number;
        };
        /** @description Events that are on their way again, oldest first. */
        RedeliveredPage: {
            /** @description Their ids */
            event_ids: string[];
            /** @description Send it as `since` for the next page */
            next_cursor: string;
            /** @description Whether there is a next page */
            has_more: boolean;
        };
        /** @description What is sent of what was missed. */
        Redelivered: {
            /** @description What was done */
            message: string;
            /** @description The events */
            data: components["schemas"]["RedeliveredPage"];
        };
        /** @description One attempt at a delivery. */
        Attempt: {
            /** @description Counts from 1 */
            attempt: number;
            /**
             * Format: date-time
             * @description When it began
             */
            at: string;
            /** @description HTTP status of the answer; null without one */
            response_status: number | null;
            /** @description How the answer begins; null without one */
            response_excerpt: string | null;
            /** @description Why there was no answer; null where there was one */
            error: string | null;
            /** @description How long it took, in milliseconds */
            duration_ms: number;
        };
        /** @description An event for one subscription, and every attempt to deliver it. */
        Delivery: {
            /** @description Its id */
            delivery_id: string;
            /** @description The subscription */
            webhook_id: string;
            /** @description The event */
            event_id: string;
            /** @description What the event tells */
            event_type: components["schemas"]["EventType"];
            /** @description The order; null for a test event */
            payment_order_id: string | null;
            /** @description Where it stands */
            status: components["schemas"]["DeliveryStatus"];
            /**
             * Format: date-time
             * @description When the event happened
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it arrived; null before that
             */
            delivered_at: string | null;
            /**
             * Format: date-time
             * @description When it is tried next; null where it is not
             */
            next_attempt_at: string | null;
            /** @description What was tried, oldest first */
            attempts: components["schemas"]["Attempt"][];
        };
        /** @description Deliveries of one subscription, newest first. */
        DeliveryPage: {
            /** @description The deliveries of this page */
            data: components["schemas"]["Delivery"][];
            /** @description Send it as `cursor` for the next page; null on the last one */
            next_cursor: string | null;
        };
        /** @description A delivery that is on its way again. */
        Redelivery: {
            /** @description What was done */
            message: string;
            /** @description The delivery */
            data: components["schemas"]["Delivery"];
        };
        /** @description An event with its id. */
        ListedEvent: {
            /** @description The `webhook-id` of its deliveries */
            id: string;
            /** @description What webhooks get */
            event: components["schemas"]["Event"];
        };
        /** @description Events in the order in which they became known. */
        EventPage: {
            /** @description The events of this page */
            data: components["schemas"]["ListedEvent"][];
            /** @description Send it as `cursor` or `since` to go on from here; null where there is none */
            next_cursor: string | null;
            /** @description Whether there are more by now */
            has_more: boolean;
        };
        /** @description A key, without its text. */
        ApiKey: {
            /** @description Id of the key, by which the operator revokes it */
            key_id: string;
            /** @description What the operator made it for */
            name: string;
            /** @description Id of the vendor */
            vendor_id: string;
            /** @description Name of the vendor */
            vendor_name: string;
            /** @description Environment in which it works */
            env_mode: components["schemas"]["EnvMode"];
            /** @description What it may do */
            scopes: components["schemas"]["Scope"][];
            /** @description The last characters of its text */
            last4: string;
            /**
             * Format: date-time
             * @description When it was made
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it stops working; null for never
             */
            expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was used last, to the minute; this use may be in it already
             */
            last_used_at: string | null;
        };
        /**
         * @description What can happen.
         * @enum {string}
         */
        Action: "pay" | "underpay" | "overpay" | "pay_late" | "wrong_token" | "reorg" | "bridge_delay" | "bridge_fail" | "expire";
        /**
         * @description Whether a bridge has delivered what it took in; overdue is what it gives back to whom it came from.
         * @enum {string}
         */
        ArrivalStatus: "unknown" | "waiting" | "overdue" | "delivered";
        /**
         * @description Where a delivery stands.
         * @enum {string}
         */
        DeliveryStatus: "pending" | "delivered" | "failed" | "cancelled";
        /**
         * @description Environment of a key, an order, a subscription or an event.
         * @enum {string}
         */
        EnvMode: "test" | "live";
        /**
         * @description What a vendor can be told.
         * @enum {string}
         */
        EventType: "payment_processing" | "payment_success" | "payment_failed" | "payment_refunded" | "payment_unmatched";
        /**
         * @description Why a transfer counts for its order.
         * @enum {string}
         */
        Evidence: "" | "reference" | "signature" | "bridge" | "assigned";
        /**
         * @description Whether a leg can be signed, and if not, why.
         * @enum {string}
         */
        LegStatus: "ready" | "approve_first" | "after_earlier_leg" | "no_builder" | "balance_too_low" | "would_fail" | "price_moved" | "bridge_declines" | "wallet_rejected" | "payer_cannot_receive" | "chains_simulated" | "chain_not_connected" | "no_answer" | "busy" | "not_tried";
        /**
         * @description Why nobody could pay an order.
         * @enum {string}
         */
        NotPayable: "" | "no_settlement_account" | "chain_not_connected" | "chain_not_read" | "order_closed" | "refund_under_way" | "order_expired" | "nothing_due";
        /**
         * @description Where an order stands.
         * @enum {string}
         */
        OrderStatus: "created" | "processing" | "success" | "failed" | "expired" | "cancelled" | "refunded";
        /**
         * @description Where a transfer stands on its chain.
         * @enum {string}
         */
        PaymentState: "seen" | "disputed" | "confirmed" | "final" | "reorged" | "lost";
        /**
         * @description What a transaction is for: take back an old allowance, give the exact one, or pay.
         * @enum {string}
         */
        Purpose: "reset_allowance" | "approve" | "pay";
        /**
         * @description Where a refund stands: the wallet has to sign some of it, its chain has all of it, its chain keeps it.
         * @enum {string}
         */
        RefundStatus: "requested" | "sent" | "final" | "cancelled";
        /**
         * @description Where the transaction of a leg stands.
         * @enum {string}
         */
        RouteStatus: "unknown" | "pending" | "mined" | "bridging" | "delivered" | "failed";
        /**
         * @description One of the rights that a key has or lacks.
         * @enum {string}
         */
        Scope: "read" | "orders" | "refunds" | "webhooks";
        /**
         * @description Why it stands there; the second axis.
         * @enum {string}
         */
        StatusReason: "" | "underpaid" | "overpaid" | "paid_late" | "wrong_token" | "slippage_exceeded" | "route_failed" | "reorged" | "screening_rejected" | "expired" | "paid_after_close" | "cancelled_by_vendor" | "partially_refunded";
        /**
         * @description What a message tells.
         * @enum {string}
         */
        StreamMessageType: "route" | "done" | "error";
        /**
         * @description Whether a subscription gets new events.
         * @enum {string}
         */
        SubscriptionStatus: "active" | "disabled";
        /**
         * @description Why a transfer belongs to no order.
         * @enum {string}
         */
        Unmatched: "no_order" | "other_payer" | "other_recipient";
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type Problem = components['schemas']['Problem'];
export type Error = components['schemas']['Error'];
export type OrderPrice = components['schemas']['OrderPrice'];
export type Quoted = components['schemas']['Quoted'];
export type ToldTransaction = components['schemas']['ToldTransaction'];
export type RefundTransaction = components['schemas']['RefundTransaction'];
export type ToldRefund = components['schemas']['ToldRefund'];
export type UnmatchedTransfer = components['schemas']['UnmatchedTransfer'];
export type EventData = components['schemas']['EventData'];
export type Event = components['schemas']['Event'];
export type WebhookBody = components['schemas']['WebhookBody'];
export type NativeCurrency = components['schemas']['NativeCurrency'];
export type Chain = components['schemas']['Chain'];
export type RouteToken = components['schemas']['RouteToken'];
export type Fee = components['schemas']['Fee'];
export type Step = components['schemas']['Step'];
export type FeeSum = components['schemas']['FeeSum'];
export type LegApproval = components['schemas']['LegApproval'];
export type LegTransaction = components['schemas']['LegTransaction'];
export type RouteLeg = components['schemas']['RouteLeg'];
export type Alternative = components['schemas']['Alternative'];
export type Token = components['schemas']['Token'];
export type Unavailable = components['schemas']['Unavailable'];
export type Route = components['schemas']['Route'];
export type StreamMessage = components['schemas']['StreamMessage'];
export type RouteQuery = components['schemas']['RouteQuery'];
export type RouteDelivery = components['schemas']['RouteDelivery'];
export type FollowedTransaction = components['schemas']['FollowedTransaction'];
export type Quote = components['schemas']['Quote'];
export type QuoteArchive = components['schemas']['QuoteArchive'];
export type NewUnitPrice = components['schemas']['NewUnitPrice'];
export type NewLineItem = components['schemas']['NewLineItem'];
export type NewOrderPrice = components['schemas']['NewOrderPrice'];
export type NewPaymentLink = components['schemas']['NewPaymentLink'];
export type PaymentLink = components['schemas']['PaymentLink'];
export type UnitPrice = components['schemas']['UnitPrice'];
export type LineItem = components['schemas']['LineItem'];
export type Settlement = components['schemas']['Settlement'];
export type Transaction = components['schemas']['Transaction'];
export type Stranded = components['schemas']['Stranded'];
export type Transfer = components['schemas']['Transfer'];
export type Refund = components['schemas']['Refund'];
export type Timeline = components['schemas']['Timeline'];
export type PaymentOrder = components['schemas']['PaymentOrder'];
export type OrderList = components['schemas']['OrderList'];
export type OrderChange = components['schemas']['OrderChange'];
export type NewRefund = components['schemas']['NewRefund'];
export type CancelRefund = components['schemas']['CancelRefund'];
export type Simulate = components['schemas']['Simulate'];
export type ListedRefund = components['schemas']['ListedRefund'];
export type RefundList = components['schemas']['RefundList'];
export type UnmatchedTransferList = components['schemas']['UnmatchedTransferList'];
export type Assignment = components['schemas']['Assignment'];
export type Brand = components['schemas']['Brand'];
export type BrandChange = components['schemas']['BrandChange'];
export type TokenList = components['schemas']['TokenList'];
export type NewSubscription = components['schemas']['NewSubscription'];
export type SecretSubscription = components['schemas']['SecretSubscription'];
export type Registered = components['schemas']['Registered'];
export type Subscription = components['schemas']['Subscription'];
export type SubscriptionList = components['schemas']['SubscriptionList'];
export type FoundSubscription = components['schemas']['FoundSubscription'];
export type SubscriptionChange = components['schemas']['SubscriptionChange'];
export type Changed = components['schemas']['Changed'];
export type Message = components['schemas']['Message'];
export type SampleEvent = components['schemas']['SampleEvent'];
export type SentEvent = components['schemas']['SentEvent'];
export type SentTest = components['schemas']['SentTest'];
export type Enabled = components['schemas']['Enabled'];
export type Missed = components['schemas']['Missed'];
export type RedeliveredPage = components['schemas']['RedeliveredPage'];
export type Redelivered = components['schemas']['Redelivered'];
export type Attempt = components['schemas']['Attempt'];
export type Delivery = components['schemas']['Delivery'];
export type DeliveryPage = components['schemas']['DeliveryPage'];
export type Redelivery = components['schemas']['Redelivery'];
export type ListedEvent = components['schemas']['ListedEvent'];
export type EventPage = components['schemas']['EventPage'];
export type ApiKey = components['schemas']['ApiKey'];
export type Action = components['schemas']['Action'];
export type ArrivalStatus = components['schemas']['ArrivalStatus'];
export type DeliveryStatus = components['schemas']['DeliveryStatus'];
export type EnvMode = components['schemas']['EnvMode'];
export type EventType = components['schemas']['EventType'];
export type Evidence = components['schemas']['Evidence'];
export type LegStatus = components['schemas']['LegStatus'];
export type NotPayable = components['schemas']['NotPayable'];
export type OrderStatus = components['schemas']['OrderStatus'];
export type PaymentState = components['schemas']['PaymentState'];
export type Purpose = components['schemas']['Purpose'];
export type RefundStatus = components['schemas']['RefundStatus'];
export type RouteStatus = components['schemas']['RouteStatus'];
export type Scope = components['schemas']['Scope'];
export type StatusReason = components['schemas']['StatusReason'];
export type StreamMessageType = components['schemas']['StreamMessageType'];
export type SubscriptionStatus = components['schemas']['SubscriptionStatus'];
export type Unmatched = components['schemas']['Unmatched'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
