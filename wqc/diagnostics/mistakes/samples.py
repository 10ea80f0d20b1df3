"""What the samples of several families begin with."""

HEAD = 'workflow w\nsource s: items { items = ["a"] }\nworker k { image = "example.com/k:1" }\n'
QUEUE = HEAD + "queue q { from = s, worker = k }\n"
