// Headers hold the credential: they are never kept in the browser's storage.
const url = new URL("graphql", location.href).href;
// Subscriptions: the headers go along in connection_init.
const subscriptionUrl = url.replace(/^http/, "ws");
const defaultQuery = `# Headers: {"Authorization": "Bearer …", "X-Graphmem-User": "…"}
{
  memories(first: 20) {
    nodes { __typename key value validFrom sources(first: 2) { quote saidAt } }
    pageInfo { endCursor hasNextPage }
  }
}
`;
ReactDOM.createRoot(document.getElementById("graphiql")).render(
  React.createElement(GraphiQL, {
    fetcher: GraphiQL.createFetcher({ url, subscriptionUrl }),
    defaultQuery,
    isHeadersEditorEnabled: true,
    shouldPersistHeaders: false,
    inputValueDeprecation: true,
  }),
);
